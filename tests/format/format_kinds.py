"""What a KIND entry says of a field, as docs/FORMAT.md has it."""

import re

from format_bytes import Wrong, must

INTEGERS, FLOATS, BOOL, UTF8 = range(1, 9), range(9, 13), 13, 14
KINDS = "none image mask map boxes keypoints vectors pinned label text tokens audio plain".split()
FORMS = {
    "image": range(4),
    "map": (4, 5),
    "boxes": range(6, 14),
    "keypoints": range(14, 20),
}
RELATIVE = {*range(10, 14), *range(17, 20)}
NEWEST = 6  # minor version that this file knows

WHOLE = r"(0|[1-9][0-9]{0,14})"
PARAMETERS = {
    "keypoints": {"flip": rf"{WHOLE}-{WHOLE}(\+{WHOLE}-{WHOLE})*"},
    "mask": {"ignore": r"-?[1-9][0-9]{0,14}|0"},
    "audio": {"rate": r"[1-9][0-9]{0,6}|10000000"},
}


class Kind:
    def __init__(self, c, field, minor):
        self.number, self.form, self.origin, _ = c.numbers("BBBB")
        self.of, self.per, parameters = c.text(), c.text(), c.text()
        must(max(len(self.of.encode()), len(self.per.encode())) <= 255, "a kind: names")
        must(len(parameters.encode()) <= 4000, "a kind: parameters")
        self.parameters = parameters.split(",") if parameters else []
        try:
            self.check(field)
        except Wrong:
            if minor <= NEWEST:
                raise
            self.number, self.form, self.of, self.per, self.parameters = KINDS.index("pinned"), 0, "", "", []

    def check(self, field):
        must(1 <= self.number < len(KINDS), f"a kind {self.number}")
        must(1 <= self.origin <= 4, f"the origin {self.origin}")
        self.name = KINDS[self.number]
        must(self.form in FORMS.get(self.name, (0,)), f"the form {self.form} of {self.name}")
        must(self.suits(field, len(field.shape)), f"{field.name} is no {self.name}")
        seen = set()
        for parameter in self.parameters:
            word, _, value = parameter.partition("=")
            must(word in PARAMETERS.get(self.name, {}) and word not in seen, f"the parameter {word}")
            must(re.fullmatch(PARAMETERS[self.name][word], value), parameter)
            seen.add(word)
            self.check_value(word, value, field)

    def check_value(self, word, value, field):
        if word == "flip":
            points = [int(n) for n in re.split(r"[-+]", value)]
            most = field.shape[-2] if field.shape[-2] > 0 else 10000
            must(len(set(points)) == len(points) and max(points) < min(most, 10000), f"flip={value}")
        elif word == "ignore" and not field.media:
            bits = 1 if field.dtype == BOOL else 8 * field.element
            signed = field.dtype in (2, 4, 6, 8)
            least, end = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
            must(least <= int(value) < end, f"ignore={value}")

    def suits(self, f, dims):
        whole = f.dtype in INTEGERS and not f.media
        number = whole or f.dtype in FLOATS
        if self.form in RELATIVE:
            number = f.dtype in FLOATS
        last = f.shape[-1] if dims else None
        image = (f.media or "").startswith("image/")
        points = 2 if self.form in (14, 17) else 3
        return {
            "image": image or (number and dims >= (3 if self.form in (1, 2) else 2)),
            "mask": image or ((whole or f.dtype == BOOL) and dims >= 2),
            "map": image or (number and dims >= 2),
            "boxes": number and last == 4 and dims <= 2,
            "keypoints": number and last == points and dims in (2, 3),
            "vectors": number and dims >= 3 and 2 in (last, f.shape[-3]),
            "label": whole or f.dtype in (BOOL, UTF8),
            "text": f.dtype == UTF8 or (f.dtype == 1 and dims == 1),
            "tokens": whole and dims >= 1,
            "audio": (f.media or "").startswith("audio/") or (number and dims >= 1),
        }.get(self.name, True)

    def same(self):
        """What the shards of a set agree in; None: it counts as none."""
        return (self.number, self.form, self.of, self.per, self.parameters) if self.origin != 4 else None


def has_elements(field):
    box = field.kind is not None and field.kind.number == KINDS.index("boxes") and len(field.shape) == 1
    return len(field.shape) > (field.dtype == UTF8) and not field.media and not box


def check_names(fields):
    """The fields that kinds name."""
    named = {f.name: f for f in fields}
    for f in fields:
        if f.kind and f.kind.of:
            image = named.get(f.kind.of)
            must(image and image is not f, f"{f.name}: of={f.kind.of}")
            must(not image.kind or KINDS[image.kind.number] == "image", f"{f.name}: of={f.kind.of}")
        if f.kind and f.kind.per:
            other = named.get(f.kind.per)
            must(other and other is not f, f"{f.name}: per={f.kind.per}")
            must(not (other.kind and other.kind.per), f"{f.name}: per={f.kind.per}")
            must(has_elements(f) and has_elements(other), f"{f.name}: per={f.kind.per}")
            must(f.shape[0] == other.shape[0], f"{f.name}: per={f.kind.per}")
