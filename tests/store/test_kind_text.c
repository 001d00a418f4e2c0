/* Kinds as text: there and back, every refusal, and kinds that somebody has filled in. */
#include "kind_text.h"
#include "store_fixture.h"

static apl_kind parsed(const char *text, char field[APL_MAX_NAME + 1])
{
    apl_kind kind;
    OK(apl_kind_parse(text, field, &kind, &fx_err));
    return kind;
}

/* What is read from `text` is printed as `printed`, which is read as the same. */
static void expect_text(const char *text, const char *printed)
{
    char field[APL_MAX_NAME + 1], shown[APL_KIND_BYTES];
    apl_kind kind = parsed(text, field), again;
    cr_expect_str_eq(apl_kind_print(field, &kind, shown, sizeof shown), printed);
    again = parsed(shown, field);
    cr_expect(kind_agrees(&kind, &again), "%s", text);
    cr_expect_eq(kind.origin, APL_DECLARED);
    cr_expect_str_eq(apl_kind_print(NULL, &kind, shown, sizeof shown), strchr(printed, '=') + 1);
    OK(apl_kind_parse(shown, NULL, &again, &fx_err));
    cr_expect(kind_agrees(&kind, &again), "%s", text);
    OK(kind_check(&kind, &again, &fx_err));
    cr_expect(kind_agrees(&kind, &again), "%s", text);
}

Test(kind_text, there_and_back)
{
    static const char *const same[] = {"image=image",
                                       "image=image,hwc",
                                       "seg=mask",
                                       "seg=mask,ignore=255",
                                       "seg=mask,of=left",
                                       "depth=map,linear",
                                       "boxes=boxes,xywh",
                                       "boxes=boxes,cxcywh-rel",
                                       "inst=mask,per=boxes",
                                       "flow=vectors",
                                       "P2=pinned",
                                       "label=label",
                                       "scores=plain,per=boxes",
                                       "caption=text",
                                       "ids=tokens",
                                       "wave=audio,rate=16000",
                                       "action=plain",
                                       "seg=mask,ignore=-1",
                                       "a b=plain",
                                       "marks=keypoints,xy,flip=0-1+3-4",
                                       "kps=keypoints,xyv,of=left image,per=boxes,flip=1-2+3-4"};
    for (size_t i = 0; i < COUNT(same); i++)
        expect_text(same[i], same[i]);
    expect_text("boxes=boxes", "boxes=boxes,xyxy");
    expect_text("depth=map", "depth=map,nearest");
    expect_text("kps=keypoints", "kps=keypoints,xy");
    expect_text("kps=keypoints,flip=3-1,per=boxes,xyz-rel,of=a",
                "kps=keypoints,xyz-rel,of=a,per=boxes,flip=3-1");
}

Test(kind_text, every_kind_and_form_has_one_word)
{
    char text[APL_KIND_BYTES];
    for (unsigned id = 1; id <= APL_KIND_PLAIN; id++) {
        apl_kind kind = {.id = (apl_kind_id)id, .origin = APL_GUESSED}, read;
        unsigned forms = 0;
        cr_expect_str_neq(kind_word(kind.id), "?");
        for (unsigned form = 1; form <= APL_FORM_XYZ_REL; form++) {
            kind.form = (apl_form)form;
            if (kind_check(&kind, &read, &fx_err) != APL_OK)
                continue;
            forms++;
            apl_kind_print("x", &kind, text, sizeof text);
            read = parsed(text, (char[APL_MAX_NAME + 1]){0});
            cr_expect_eq(read.form, form, "%s", text);
        }
        static const unsigned has[] = {0, 3, 0, 2, 8, 6, 0, 0, 0, 0, 0, 0, 0};
        cr_expect_eq(forms, has[id], "%s", kind_word(kind.id));
    }
    cr_expect_str_eq(kind_word(APL_KIND_NONE), "?");
    cr_expect_str_eq(kind_word((apl_kind_id)13), "?");
    cr_expect_str_eq(kind_word((apl_kind_id)-1), "?");
}

static void refused(const char *text, const char *message)
{
    char field[APL_MAX_NAME + 1] = "untouched";
    apl_kind kind = {.parameters = "untouched"};
    FAILS(APL_E_INVALID, apl_kind_parse(text, field, &kind, &fx_err));
    cr_expect_str_eq(fx_err.message, message);
    cr_expect_str_eq(field, "untouched");
    cr_expect_str_eq(kind.parameters, "untouched");
    cr_expect_eq(apl_kind_parse(text, field, &kind, NULL), APL_E_INVALID);
}

Test(kind_text, refusals)
{
#define KINDS "image, mask, map, boxes, keypoints, vectors, pinned, label, text, tokens, audio, plain"
    refused("boxes=boxes,xyhw", "boxes=boxes,xyhw: xyhw is none of xyxy, xywh, cxcywh, yxyx, xyxy-rel, "
                                "xywh-rel, cxcywh-rel, yxyx-rel, "
                                "of=, per= (did you mean xywh?)");
    refused("pose=keypoint", "pose=keypoint: keypoint is none of " KINDS " (did you mean keypoints?)");
    refused("pose=point cloud", "pose=point cloud: point cloud is none of " KINDS);
    refused("pose=", "pose=: nothing is none of " KINDS);
    refused("pose=Plain", "pose=Plain: Plain is none of " KINDS " (did you mean plain?)");
    refused("a=b=plain", "a=b=plain: b=plain is none of " KINDS " (did you mean plain?)");
    refused("seg=mask,xywh", "seg=mask,xywh: xywh is none of of=, per=, ignore=");
    refused("seg=mask,", "seg=mask,: nothing is none of of=, per=, ignore=");
    refused("seg=mask,,of=a", "seg=mask,,of=a: nothing is none of of=, per=, ignore=");
    refused("seg=mask,of=a,", "seg=mask,of=a,: nothing is none of of=, per=, ignore=");
    refused("seg=mask,ingore=3",
            "seg=mask,ingore=3: ingore= is none of of=, per=, ignore= (did you mean ignore=?)");
    refused("seg=mask,flip=1-2", "seg=mask,flip=1-2: flip= is none of of=, per=, ignore=");
    refused("boxes", "boxes: not NAME=KIND[,WORD]..., as in boxes=boxes,xywh");
    refused("", ": not NAME=KIND[,WORD]..., as in boxes=boxes,xywh");
    refused("=boxes", "=boxes: begins with no name of a field, as in boxes=boxes,xywh");
    refused("boxes=boxes,xywh,xyxy", "boxes=boxes,xywh,xyxy: xyxy beside xywh: one form");
    refused("seg=mask,of=a,of=b", "seg=mask,of=a,of=b: of= comes twice");
    refused("seg=mask,per=", "seg=mask,per=: per=: takes the name of a field");
    refused("seg=mask,ignore=1,ignore=1", "seg=mask,ignore=1,ignore=1: ignore= comes twice");
    refused("img=image,from=path", "img=image,from=path: from= is not known yet");
    refused("t=tokens,type=u16[-1]", "t=tokens,type=u16[-1]: type= is not known yet");
    refused("l=label,classes=names.txt", "l=label,classes=names.txt: classes= is not known yet");
    refused("l=label,missing=skip", "l=label,missing=skip: missing= is not known yet");
    FAILS(APL_E_INVALID, apl_kind_parse(NULL, NULL, &(apl_kind){0}, &fx_err));
    FAILS(APL_E_INVALID, apl_kind_parse("plain", NULL, NULL, &fx_err));
}

Test(kind_text, values_of_words)
{
    static const char *const good[] = {"keypoints,flip=0-1",
                                       "keypoints,flip=1-0+9999-2",
                                       "mask,ignore=0",
                                       "mask,ignore=-1",
                                       "audio,rate=1",
                                       "audio,rate=10000000",
                                       "mask,ignore=999999999999999"};
    static const char *const bad[] = {"keypoints,flip=",
                                      "keypoints,flip=1",
                                      "keypoints,flip=1-",
                                      "keypoints,flip=1-1",
                                      "keypoints,flip=1-2+2-3",
                                      "keypoints,flip=1-2+",
                                      "keypoints,flip=1-2-3",
                                      "keypoints,flip=1+2",
                                      "keypoints,flip=01-2",
                                      "keypoints,flip=0-10000",
                                      "keypoints,flip=-1-2",
                                      "keypoints,flip=1-2 ",
                                      "mask,ignore=",
                                      "mask,ignore=-",
                                      "mask,ignore=-0",
                                      "mask,ignore=+1",
                                      "mask,ignore=1.0",
                                      "mask,ignore=0x1",
                                      "mask,ignore=1000000000000000",
                                      "audio,rate=0",
                                      "audio,rate=10000001",
                                      "audio,rate=44100.0",
                                      "mask,per=\n"};
    apl_kind kind;
    for (size_t i = 0; i < COUNT(good); i++)
        OK(apl_kind_parse(good[i], NULL, &kind, &fx_err));
    for (size_t i = 0; i < COUNT(bad); i++) {
        FAILS(APL_E_INVALID, apl_kind_parse(bad[i], NULL, &kind, &fx_err));
        SAYS(": takes ");
    }
}

/* Whatever the text, it ends, and the message is a line. */
Test(kind_text, long_and_strange_text)
{
    char text[9000], field[APL_MAX_NAME + 1], shown[APL_KIND_BYTES];
    apl_kind kind;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    FAILS(APL_E_INVALID, apl_kind_parse(text, NULL, &kind, &fx_err));
    FAILS(APL_E_INVALID, apl_kind_parse(text, field, &kind, &fx_err));
    memcpy(text, "f=mask,per=", 11);
    FAILS(APL_E_INVALID, apl_kind_parse(text, field, &kind, &fx_err));
    text[11 + APL_MAX_NAME] = 0;
    OK(apl_kind_parse(text, field, &kind, &fx_err));
    cr_expect_eq(strlen(kind.per), APL_MAX_NAME);
    int n = snprintf(text, sizeof text, "f=keypoints,flip=10-11");
    for (int i = 0; i < 399; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "+%d-%d", 1000 + 2 * i, 1001 + 2 * i);
    OK(apl_kind_parse(text, field, &kind, &fx_err));
    cr_expect_eq(strlen(kind.parameters), APL_MAX_PARAMETERS);
    cr_expect_str_eq(strchr(apl_kind_print("f", &kind, shown, sizeof shown), '+'), strchr(text, '+'));
    memcpy(text + n, "+2-3", 5);
    FAILS(APL_E_INVALID, apl_kind_parse(text, field, &kind, &fx_err));
    SAYS("flip=: with it, the parameters have more than 4000 bytes");
    FAILS(APL_E_INVALID, apl_kind_parse("x=\x1b[31mred", field, &kind, &fx_err));
    SAYS("\\x1b[31mred is none of");
}

Test(kind_text, prints_into_any_room)
{
    apl_kind kind = parsed("kps=keypoints,xyv,per=boxes,flip=1-2", (char[APL_MAX_NAME + 1]){0});
    char text[64];
    for (size_t size = 1; size < sizeof text; size++) {
        memset(text, '#', sizeof text);
        apl_kind_print("kps", &kind, text, size);
        cr_expect_lt(strlen(text), size);
        cr_expect_eq(strncmp(text, "kps=keypoints,xyv,per=boxes,flip=1-2", strlen(text)), 0);
    }
    text[0] = '#';
    apl_kind_print("kps", &kind, text, 0);
    cr_expect_eq(text[0], '#');
    cr_expect_str_eq(apl_kind_print("kps", NULL, text, sizeof text), "kps=");
    cr_expect_str_eq(apl_kind_print(NULL, &(apl_kind){0}, text, sizeof text), "");
    cr_expect_null(apl_kind_print("kps", &kind, NULL, 0));
}

/* A kind that a program has filled in. */
Test(kind_text, checks_every_member)
{
    const apl_kind good = {
        .id = APL_KIND_KEYPOINTS, .origin = APL_DECLARED, .per = "a,b=c", .parameters = "flip=1-2"};
    apl_kind kind = good, checked;
    OK(kind_check(&kind, &checked, &fx_err));
    cr_expect(checked.form == APL_FORM_XY && strcmp(checked.per, "a,b=c") == 0 &&
              kind_parameter(&checked, "flip="));
    cr_expect_null(kind_parameter(&checked, "ignore="));
#define BAD(member, text)                                           \
    do {                                                            \
        kind = good;                                                \
        member;                                                     \
        FAILS(APL_E_INVALID, kind_check(&kind, &checked, &fx_err)); \
        SAYS(text);                                                 \
    } while (0)
    BAD(kind.id = APL_KIND_NONE, "0 is no kind");
    BAD(kind.id = (apl_kind_id)13, "13 is no kind");
    BAD(kind.form = APL_FORM_XYWH, "7 is no form of keypoints");
    BAD(kind.form = (apl_form)20, "20 is no form of keypoints");
    BAD(kind.origin = (apl_origin)0, "0 is no origin");
    BAD(kind.origin = (apl_origin)5, "5 is no origin");
    BAD(memset(kind.of, 'x', sizeof kind.of), "of is no name");
    BAD(strcpy(kind.per, "a\n"), "per is no name");
    BAD(memset(kind.parameters, 'x', sizeof kind.parameters), "the parameters do not end");
    BAD(strcpy(kind.parameters, "ignore=1"), "ignore= is none of");
    BAD(strcpy(kind.parameters, "flip=1-2,"), "nothing is none of");
    BAD(strcpy(kind.parameters, "flip=1-2,flip=3-4"), "flip= comes twice");
    BAD(strcpy(kind.parameters, "xyv"), "xyv beside xy");
    BAD(strcpy(kind.parameters, "per=boxes"), "per= comes twice");
}

Test(kind_text, agreement_is_of_what_has_been_said)
{
    const apl_kind boxes = {.id = APL_KIND_BOXES, .form = APL_FORM_XYWH, .origin = APL_DECLARED, .per = "p"};
    apl_kind other = boxes;
    other.origin = APL_GUESSED;
    cr_expect(kind_agrees(&boxes, &other) && kind_agrees(NULL, NULL) && !kind_agrees(NULL, &boxes));
    other.form = APL_FORM_XYXY;
    cr_expect(!kind_agrees(&boxes, &other));
    other.origin = APL_BY_DEFAULT;
    cr_expect(kind_agrees(NULL, &other) && !kind_agrees(&other, &boxes));
}
