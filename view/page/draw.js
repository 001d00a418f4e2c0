/*
 * Draws the view of a store from its data, the JSON document in #data. It takes the place of #results, the tables that are there for readers
 * without scripts. All text goes in as text, never as HTML.
 */
const view = JSON.parse(document.getElementById("data").textContent);

const places = new Map(view.records.map((record, i) => [record.id, i]));
const isImages = view.image_field >= 0;

/* ---------------------------------------------------------------------------------------------- words */

function short(v) {
    const plain = Math.abs(v) < 1e15 && (Number.isInteger(v) || Math.abs(v) >= 1000);
    return plain ? count(v) : `${+v.toPrecision(4)}`;
}

function share(part, whole) {
    return whole ? `${+(100 * part / whole).toPrecision(3)}%` : "0%";
}

function plural(n, word) {
    return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

/* In one piece, wherever lines are broken. */
function pixels(width, height) {
    return `${short(width)}\u00a0×\u00a0${short(height)} pixels`;
}

function className(cls) {
    return cls === undefined ? "" : view.classes[cls] ?? `class ${cls}`;
}

function cut(text, most) {
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/* As much of a text as fits into a width of a chart. */
function fitted(text, width) {
    const letters = [...text];
    let shown = text;
    while (labelWidth(shown) > width && letters.pop())
        shown = `${letters.join("")}…`;
    return shown;
}

/* From one number to another, in words; `unit` is in the plural. */
function extent(s, unit = "") {
    const units = unit && ` ${s.most === 1 && s.least === 1 ? unit.slice(0, -1) : unit}`;
    return s.distinct === 1 ? `always ${short(s.least)}${units}` : `${short(s.least)} to ${short(s.most)}${units}`;
}

function bytes(n) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    for (; n >= 999.95 && unit < units.length - 1; unit++)
        n /= 1000;
    return `${unit ? n.toFixed(1) : n} ${units[unit]}`;
}

/* ---------------------------------------------------------------------------------------------- tiles */

/* Thumbnails may have other proportions than their images: they are shown in those of the image, and small ones enlarged. */
function sized(record, box) {
    const width = record.width || 1, height = record.height || 1;
    const scale = Math.min(box / width, box / height);
    const times = scale > 1 ? Math.max(1, Math.floor(scale)) : scale;
    return {width: Math.max(1, Math.round(width * times)), height: Math.max(1, Math.round(height * times)),
        enlarged: scale > 1};
}

function picture(parent, record, box, alt) {
    const {width, height, enlarged} = sized(record, box);
    const image = add(parent, "img", {src: record.image, alt, width, height});
    if (enlarged)
        image.classList.add("enlarged");
    return image;
}

/* A record's first values, for those without an image. */
function excerpt(record) {
    const values = view.fields.map((field, i) => [field, record.values[i]]).filter(([field, value]) => value !== null && !field.image);
    return values.slice(0, 5).map(([field, value]) => `${field.name}: ${cut(value.replaceAll("\n", "; "), 90)}`).join("\n");
}

function tile(parent, id, box = 96) {
    const record = view.records[places.get(id)];
    if (!record) { /* there was no room for it */
        add(parent, "span", {class: "tile missing"}, `record ${id}, not on this page`);
        return;
    }
    const label = className(record.class);
    const button = add(parent, "button", {class: "tile", type: "button", "aria-haspopup": "dialog"});
    if (record.image)
        picture(add(button, "span", {class: "frame"}), record, box, "");
    else
        add(button, "span", {class: "frame text"}, record.why ? "no image" : excerpt(record));
    const caption = add(button, "span", {class: "caption"});
    add(caption, "span", {class: "id"}, `${record.id}`);
    if (label)
        add(caption, "bdi", {}, cut(label, 40));
    add(button, "span", {class: "hidden"}, "show the record");
    button.addEventListener("click", () => showRecord(record.id));
}

/* Some items at a time, with buttons for the others. */
function paged(parent, what, perPage, draw) {
    const bar = add(parent, "div", {class: "pager"});
    const place = add(parent, "div");
    const state = {items: [], page: 0};
    const button = (text, label, go) => {
        const node = add(bar, "button", {type: "button", "aria-label": `${label} ${what}`}, text);
        node.addEventListener("click", () => { go(); show(); });
        return node;
    };
    const last = () => Math.max(0, Math.ceil(state.items.length / perPage) - 1);
    const first = button("«", "First", () => { state.page = 0; });
    const before = button("‹ Previous", "Previous", () => { state.page--; });
    const told = add(bar, "span", {class: "told", role: "status"});
    const after = button("Next ›", "Next", () => { state.page++; });
    const end = button("»", "Last", () => { state.page = last(); });
    function show() {
        const from = state.page * perPage, some = state.items.slice(from, from + perPage);
        told.textContent = some.length ? `${count(from + 1)} to ${count(from + some.length)} of ${count(state.items.length)}` : "none";
        for (const [node, off] of [[first, state.page === 0], [before, state.page === 0], [after, state.page >= last()],
            [end, state.page >= last()]])
            node.setAttribute("aria-disabled", off);
        bar.hidden = state.items.length <= perPage;
        place.replaceChildren();
        draw(place, some);
    }
    bar.addEventListener("click", event => {
        if (event.target.getAttribute("aria-disabled") === "true")
            event.stopPropagation();
    }, true);
    return items => {
        state.items = items;
        state.page = 0;
        show();
    };
}

/* --------------------------------------------------------------------------------------------- a record */

/* Boxes of a record, as left, top, right and bottom in pixels of its image; none of a field where some do not fit into the image. */
function boxesOf(record) {
    const fits = ([left, top, right, bottom]) =>
        0 <= left && left <= right && right <= record.width && 0 <= top && top <= bottom && bottom <= record.height;
    return view.fields.flatMap((field, i) => {
        const text = /^[fiu]\d+\[\*,4\]$/.test(field.type) ? record.values[i] : null;
        const rows = text ? text.replace(/ \.\.\. .*/s, "").split("\n").map(row => row.split(" ").map(Number)) : [];
        return rows.every(fits) ? rows : [];
    });
}

function largePicture(parent, record) {
    const frame = add(parent, "div", {class: "large"}), boxes = boxesOf(record);
    const within = add(frame, "div", {class: "within"});
    picture(within, record, Math.min(320, innerWidth - 80), `image of record ${record.id}`);
    if (!boxes.length)
        return;
    const svg = document.getElementById("figure").content.querySelector("svg").cloneNode(false);
    svg.setAttribute("viewBox", `0 0 ${record.width} ${record.height}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-label", boxes.length === 1 ? "its box" : `its ${count(boxes.length)} boxes`);
    for (const [x, y, right, bottom] of boxes)
        for (const kind of ["under", "box"])
            add(svg, "rect", {class: kind, x, y, width: right - x, height: bottom - y});
    within.append(svg);
    add(parent, "p", {class: "facts"}, "Boxes are drawn as left, top, right and bottom.");
}

let dialog = null, shownIds = [], shownId = null;

function fillRecord() {
    const record = view.records[places.get(shownId)], at = shownIds.indexOf(shownId);
    const body = dialog.querySelector(".body");
    dialog.querySelector("h2").textContent = `Record ${record.id}`;
    body.replaceChildren();
    if (record.image)
        largePicture(body, record);
    const list = add(body, "dl");
    const splits = record.splits.map(i => view.splits[i].name).join(", ");
    const pair = (name, value) => {
        add(list, "dt").append(name);
        add(list, "dd", {dir: "auto"}, value);
    };
    pair("splits", splits || "none");
    view.fields.forEach((field, i) => {
        const size = record.width ? `, ${pixels(record.width, record.height)}` : "";
        if (field.image)
            pair(field.name, `${field.media || field.type}${size}${record.why ? `: ${record.why}` : ""}`);
        else
            pair(field.name, record.values[i] ?? `${field.media}, not shown`);
    });
    for (const [name, step] of [["before", -1], ["after", 1]])
        dialog.querySelector(`.${name}`).setAttribute("aria-disabled", at < 0 || !shownIds[at + step]?.toString());
}

function stepRecord(by) {
    const next = shownIds[shownIds.indexOf(shownId) + by];
    if (shownIds.includes(shownId) && next !== undefined) {
        shownId = next;
        fillRecord();
    }
}

function makeDialog() {
    dialog = add(document.body, "dialog", {"aria-labelledby": "record-title"});
    const head = add(dialog, "div", {class: "head"});
    add(head, "h2", {id: "record-title"});
    for (const [name, text, label, act] of [["before", "‹", "Previous record", () => stepRecord(-1)],
        ["after", "›", "Next record", () => stepRecord(1)], ["close", "Close", "Close", () => dialog.close()]])
        add(head, "button", {type: "button", class: name, "aria-label": label}, text).addEventListener("click", act);
    add(dialog, "div", {class: "body", tabindex: 0, role: "region", "aria-label": "Fields of the record"});
    dialog.addEventListener("keydown", event => {
        if (event.key === "ArrowLeft" || event.key === "ArrowRight")
            stepRecord(event.key === "ArrowLeft" ? -1 : 1);
    });
    dialog.addEventListener("click", event => {
        if (event.target === dialog)
            dialog.close();
    });
}

function showRecord(id) {
    shownId = id;
    fillRecord();
    dialog.showModal();
}

/* -------------------------------------------------------------------------------------------- the sheet */

function choice(parent, label, options) {
    const wrap = add(parent, "label", {}, `${label} `), select = add(wrap, "select");
    for (const [value, text] of options)
        add(select, "option", {value, title: text}, cut(text, 60));
    return select;
}

function counted(items) {
    const counts = new Map();
    for (const item of items)
        counts.set(item, (counts.get(item) || 0) + 1);
    return counts;
}

/* One of each class in turn, so that a sheet of all classes begins with all of them. */
function dealt(records) {
    const seen = new Map(), turns = new Map();
    for (const record of records) {
        const turn = seen.get(record.class) ?? 0;
        turns.set(record, turn);
        seen.set(record.class, turn + 1);
    }
    return [...records].sort((a, b) => turns.get(a) - turns.get(b));
}

function showSheet(parent) {
    const section = add(parent, "section", {"aria-label": "Records"});
    add(section, "h2", {}, "Records");
    if (view.records.length < view.total)
        add(section, "p", {class: "facts"}, `${plural(view.records.length, "record")} of ${count(view.total)} ` +
            `${view.records.length === 1 ? "is" : "are"} on this page: those that it speaks of, and others in turn of every ` +
            `${view.classes ? "class and " : ""}split.`);
    const bar = add(section, "div", {class: "filters"});
    const inSplit = counted(view.records.flatMap(record => record.splits)), ofClass = counted(view.records.map(record => record.class));
    const split = choice(bar, "Split", [["", "all"], ...[...inSplit.keys()].sort((a, b) => a - b)
        .map(i => [`${i}`, `${view.splits[i].name} (${count(inSplit.get(i))})`])]);
    const cls = view.classes ? choice(bar, "Class", [["", "all"], ...[...ofClass.keys()].filter(c => c !== undefined).sort((a, b) => a - b)
        .map(c => [`${c}`, `${className(c)} (${count(ofClass.get(c))})`])]) : null;
    const show = paged(section, "page of records", 60, (place, records) => {
        const list = add(place, "ul", {class: isImages ? "sheet" : "sheet cards"});
        for (const record of records)
            tile(add(list, "li"), record.id);
    });
    const sorted = [...view.records].sort((a, b) => (a.class ?? -1) - (b.class ?? -1) || a.id - b.id);
    const choose = () => {
        const kept = sorted.filter(record => (!split.value || record.splits.includes(+split.value)) &&
            (!cls?.value || record.class === +cls.value));
        const sheet = cls?.value ? kept : dealt(kept);
        shownIds = sheet.map(record => record.id);
        show(sheet);
    };
    for (const select of [split, cls])
        select?.addEventListener("change", choose);
    choose();
}

/* ------------------------------------------------------------------------------------------- histograms */

function multiples(step, low, high) {
    const list = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step)
        list.push(+v.toPrecision(12));
    return list;
}

/* Where an axis is marked: about four times, and no less than three times where there is room between whole numbers. */
function ticks(low, high, whole = false) {
    const least = whole ? 1 : 0;
    const step = Math.max(least, roundUp((high - low) / 4 || 1)), list = multiples(step, low, high);
    const finer = Math.max(least, roundUp(step / 2.5));
    return list.length < 3 && finer < step ? multiples(finer, low, high) : list;
}

/* Every mark, or every second or third, so that what is written at them does not run together. */
function apart(marks, x) {
    const wide = 8 + Math.max(0, ...marks.map(v => labelWidth(short(v))));
    const each = marks.length > 1 ? Math.ceil(wide / (x(marks[1]) - x(marks[0]))) : 1;
    return marks.filter((_, i) => (i - Math.floor((marks.length - 1) % each / 2)) % each === 0);
}

function binName(s, i) {
    const from = s.from + i * s.step;
    return s.whole ? extent({least: from, most: from + s.step - 1, distinct: s.step}).replace("always ", "") :
        `from ${short(from)}`;
}

/* `of` says what is counted, where that is not records but several values of each. */
function drawHistogram(parent, title, what, s, of = "") {
    const outside = s.far ? ` ${count(s.far)} beyond ${short(s.from)} to ${short(s.to)} are not drawn.` : "";
    const svg = chart(parent, title, `${short(s.least)} to ${short(s.most)}, median ${short(s.quarters[1])}, mean ${short(s.mean)}, ` +
        `deviation ${short(s.deviation)}.${of}${outside}`);
    const most = Math.max(1, ...s.bins), low = s.whole ? s.from - 0.5 : s.from, high = s.whole ? low + s.bins.length * s.step : s.to;
    const x = linear(low, high > low ? high : low + 1, AREA.left, AREA.right), y = linear(0, 1.05 * most, AREA.bottom, AREA.top);
    for (const v of ticks(0, 1.05 * most, true))
        tickY(svg, y(v), v >= 10000 ? `${short(v / 1000)}k` : count(v));
    const width = (AREA.right - AREA.left) / s.bins.length;
    s.bins.forEach((n, i) => {
        const bar = add(svg, "rect", {class: "bar", x: AREA.left + i * width, y: y(n), width: Math.max(0.5, width - 1),
            height: AREA.bottom - y(n)});
        add(bar, "title", {}, `${binName(s, i)}: ${count(n)}`);
    });
    for (const v of high > low ? apart(ticks(s.from, s.to, s.whole), x) : [])
        tickX(svg, x(v), short(v));
    if (!(high > low))
        tickX(svg, x(low + 0.5), short(low));
    titles(svg, what, of ? "values" : "records");
}

function examples(parent, ids) {
    for (const id of ids)
        if (places.has(id))
            add(parent, "button", {type: "button", class: "link", "aria-label": `record ${id}`}, `${id}`)
                .addEventListener("click", () => showRecord(id));
        else
            add(parent, "span", {class: "link"}, `${id}`);
}

/* ---------------------------------------------------------------------------------------------- classes */

const MOST_ROWS = 40;
const ownSplits = view.splits.map((split, i) => [split, i]).filter(([split]) => split.parent === null);

function totals() {
    return Array.from(view.classes, (_, c) => ownSplits.reduce((sum, [split]) => sum + (split.classes?.[c] || 0), 0));
}

function drawClasses(parent, sums) {
    const row = 18, left = 120, right = 300, height = 12 + row * sums.length;
    const svg = chart(parent, "Records of each class", view.class_exact ? "In all splits of the source together." :
        "In the sample: the classes have no names, and are not counted in the store.", height);
    const x = linear(0, Math.max(1, ...sums), left, right);
    sums.forEach((n, c) => {
        const y = 6 + row * c;
        const name = label(svg, left - 6, y + 12, "end", fitted(className(c), left - 8));
        add(name, "title", {}, className(c));
        add(svg, "rect", {class: "bar", x: left, y: y + 2, width: Math.max(0.5, x(n) - left), height: row - 5});
        label(svg, x(n) + 5, y + 12, "start", count(n));
    });
}

function drawRanks(parent, sums) {
    const sorted = [...sums].sort((a, b) => b - a);
    const x = linear(0, sorted.length, AREA.left, AREA.right), y = linear(0, 1.05 * Math.max(1, sorted[0]), AREA.bottom, AREA.top);
    const svg = chart(parent, "Records of each class", `${count(sums.length)} classes, from the largest to the smallest. ` +
        (view.class_exact ? "In all splits of the source together." : "In the sample."));
    for (const v of ticks(0, 1.05 * Math.max(1, sorted[0]), true))
        tickY(svg, y(v), count(v));
    polyline(svg, "seen", sorted.flatMap((n, i) => [[x(i), y(n)], [x(i + 1), y(n)]]));
    for (const v of ticks(0, sorted.length, true))
        tickX(svg, x(v), count(v));
    titles(svg, "classes, by size", "records");
}

function scrolled(parent, label) {
    return add(parent, "div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label});
}

function head(table, names) {
    const row = add(add(table, "thead"), "tr");
    for (const [name, number] of names)
        add(row, "th", {scope: "col", ...(number ? {class: "number"} : {})}, name);
    return add(table, "tbody");
}

function tabulateClasses(parent, sums) {
    const details = add(parent, "details"), splits = view.splits.filter(split => split.classes?.length);
    add(details, "summary", {}, "Classes by split, as a table");
    const body = head(add(scrolled(details, "Table of classes by split"), "table", {class: "compact"}),
        [["class"], ...splits.map(split => [split.name, true])]);
    sums.forEach((_, c) => {
        const row = add(body, "tr");
        add(add(row, "th", {scope: "row"}), "bdi", {}, className(c));
        for (const split of splits)
            add(row, "td", {class: "number"}, count(split.classes[c]));
    });
}

function showClasses(parent) {
    const section = add(parent, "section", {"aria-label": "Classes"}), sums = totals();
    add(section, "h2", {}, "Classes");
    const plots = add(section, "div", {class: "plots"});
    (sums.length <= MOST_ROWS ? drawClasses : drawRanks)(plots, sums);
    if (view.class_count > sums.length)
        add(section, "p", {class: "facts"}, `Of ${count(view.class_count)} classes, the first ${count(sums.length)} are named.`);
    tabulateClasses(section, sums);
}

function showSplits(parent) {
    const section = add(parent, "section", {"aria-label": "Splits"});
    add(section, "h2", {}, "Splits");
    const divided = view.splits.some(split => split.parent);
    const body = head(add(scrolled(section, "Table of splits"), "table"),
        [["split"], ["records", true], ...(divided ? [["part of"]] : []), ["made"]]);
    for (const split of view.splits) {
        const row = add(body, "tr");
        add(add(row, "th", {scope: "row"}), "bdi", {}, split.name);
        add(row, "td", {class: "number"}, count(split.records));
        if (divided)
            add(row, "td", {}, split.parent || "");
        add(row, "td", {}, split.rule);
    }
}

/* ----------------------------------------------------------------------------------------------- images */

/* The size of all images, if they have one. */
function oneSize() {
    const {width, height} = view.sizes || {};
    return width?.distinct === 1 && height?.distinct === 1 ? {width: width.least, height: height.least} : null;
}

function meanFigure(parent, title, src, caption, alt = title, box = 192) {
    const figure = add(parent, "figure");
    add(figure, "h3").append(title);
    picture(figure, {image: src, ...(oneSize() || view.means)}, box, alt).classList.add("enlarged");
    if (caption)
        add(figure, "figcaption", {}, caption);
}

function showImages(parent) {
    const section = add(parent, "section", {"aria-label": "Images"});
    add(section, "h2", {}, "Images");
    if (oneSize())
        add(section, "p", {class: "facts"}, `${view.sizes.width.count === 1 ? "The image has" : "All images have"} ` +
            `${pixels(oneSize().width, oneSize().height)}.`);
    else if (view.sizes) {
        const plots = add(section, "div", {class: "plots"});
        drawHistogram(plots, "Widths", "pixels", view.sizes.width);
        drawHistogram(plots, "Heights", "pixels", view.sizes.height);
        drawHistogram(plots, "Aspect ratios", "width divided by height", view.sizes.aspect);
    }
    if (!view.means || view.means.images < 2)
        return;
    const means = add(section, "div", {class: "means"});
    meanFigure(means, "Mean image", view.means.mean, `Of ${plural(view.means.images, "image")}, each scaled to ` +
        `${pixels(view.means.width, view.means.height)}.`);
    meanFigure(means, "Deviation", view.means.deviation, `Of each pixel and colour; white is ${short(view.means.most)} of 255.`);
    if (!view.means.classes)
        return;
    add(section, "p", {class: "facts"}, "The mean image of each class:");
    const small = add(section, "div", {class: "means small"});
    view.means.classes.forEach((src, c) => {
        if (src)
            meanFigure(small, cut(className(c), 24), src, "", `mean image of ${className(c)}`, 96);
    });
}

/* ----------------------------------------------------------------------------------------------- fields */

/* What the elements of a value are counted in: those of boxes, f32[*,4], are rows. */
function unitOf(field) {
    return field.type === "utf8" ? "characters" : /^\w+\[\*,[\d,]+\]$/.test(field.type) ? "rows" : "elements";
}

function describe(field) {
    if (view.classes && field === view.fields[view.class_field])
        return (view.class_count === 1 ? "1 class" : `${count(view.class_count)} classes`) + (view.class_exact ? "" : " seen");
    const numbers = field.numbers, lengths = field.lengths;
    if (numbers && numbers.count)
        return extent(numbers) + (numbers.distinct === 1 ? "" : `, ${plural(numbers.distinct, "different value")}`) +
            (field.per_record ? ` among ${field.per_record} of each record` : "");
    if (lengths)
        return extent(lengths, unitOf(field)) +
            (field.distinct ? `, ${plural(field.distinct, "different value")}` : "");
    return "";
}

/* What a histogram of numbers counts, if that is not records. */
function counts(field) {
    return field.per_record ? ` Of ${field.per_record} values of each record, spread evenly over it.` :
        field.type.includes("[") ? " Of all values of the records." : "";
}

function showFields(parent) {
    const section = add(parent, "section", {"aria-label": "Fields"});
    add(section, "h2", {}, "Fields");
    const body = head(add(scrolled(section, "Table of fields"), "table"), [["field"], ["type"], ["role"], ["stored", true], ["values"]]);
    for (const field of view.fields) {
        const row = add(body, "tr");
        add(add(row, "th", {scope: "row"}), "bdi", {}, field.name);
        add(row, "td", {}, field.media ? `${field.type} (${field.media})` : field.type);
        add(row, "td", {}, field.role);
        add(row, "td", {class: "number"}, bytes(field.stored_bytes));
        add(row, "td", {}, describe(field));
    }
    const plots = add(section, "div", {class: "plots"});
    for (const field of view.fields) {
        if (field.lengths && field.lengths.distinct > 1)
            drawHistogram(plots, `Lengths of ${field.name}`, unitOf(field), field.lengths);
        if (field.numbers && field.numbers.distinct > 1)
            drawHistogram(plots, `Values of ${field.name}`, "value", field.numbers, counts(field));
    }
}

/* -------------------------------------------------------------------------------------- missing and odd */

function odditiesOf(field) {
    const rows = field.odd.map(odd => [field.name, odd.what, odd.records, odd.examples]);
    for (const [s, what] of [[field.numbers, "values"], [field.lengths, "lengths"]]) {
        if (s && s.far)
            rows.push([field.name, `${what} far out`, s.far, s.far_records]);
        if (s && s.distinct === 1 && s.count > 1 && what === "values")
            rows.push([field.name, `the same value everywhere: ${short(s.common)}`, s.count, []]);
    }
    return rows;
}

function oddClasses(sums) {
    const median = [...sums].sort((a, b) => a - b)[Math.floor(sums.length / 2)];
    const name = view.fields[view.class_field].name;
    return sums.map((n, c) => [n, c]).filter(([n]) => n < median / 10)
        .map(([n, c]) => [name, n ? `class ${className(c)} has few records` : `class ${className(c)} has no records`, n, []]).slice(0, 20);
}

function showOdd(parent) {
    const section = add(parent, "section", {"aria-label": "Missing and odd values"});
    add(section, "h2", {}, "Missing and odd values");
    const rows = view.fields.flatMap(odditiesOf);
    if (view.undecoded?.records)
        rows.unshift([view.fields[view.image_field].name, "no image can be made of it", view.undecoded.records, view.undecoded.examples]);
    if (view.sizes)
        for (const name of ["width", "height", "aspect"])
            if (view.sizes[name].far)
                rows.push([view.fields[view.image_field].name, `${name} far out`, view.sizes[name].far, view.sizes[name].far_records]);
    if (view.classes)
        rows.push(...oddClasses(totals()));
    if (!rows.length) {
        add(section, "p", {}, "None were found: no value is empty, infinite or not a number, and none is far out.");
        return;
    }
    const body = head(add(scrolled(section, "Table of missing and odd values"), "table"), [["field"], ["what"], ["records", true], ["such as"]]);
    for (const [name, what, records, ids] of rows) {
        const row = add(body, "tr");
        add(add(row, "th", {scope: "row"}), "bdi", {}, name);
        add(add(row, "td"), "bdi", {}, what);
        add(row, "td", {class: "number"}, count(records));
        examples(add(row, "td"), ids);
    }
    add(section, "p", {class: "facts"}, "Far out is what lies beyond the quartiles by more than three times the distance between them.");
}

/* ------------------------------------------------------------------------------------------------ pairs */

function drawPairs(place, pairs) {
    const list = add(place, "ul", {class: "pairs"});
    for (const pair of pairs) {
        const item = add(list, "li"), two = add(item, "div", {class: "two"});
        tile(two, pair.a);
        tile(two, pair.b);
        const told = add(item, "p", {}, pair.equal ? "equal inputs" : `${plural(pair.bits, "bit")} of 128 differ`);
        for (const [differ, what] of [[pair.splits, "different splits"], [pair.classes && view.classes, "different labels"]])
            if (differ) {
                told.append(" · ");
                add(told, "strong", {class: "badge"}, what);
            }
    }
}

function showPairs(parent) {
    const section = add(parent, "section", {"aria-label": "Near-duplicates"}), p = view.pairs;
    add(section, "h2", {}, isImages ? "Near-duplicates" : "Duplicates");
    const looked = p.images ? "images that look alike, by a perceptual hash" : "equal inputs";
    if (view.sampled < 2) {
        add(section, "p", {}, "There are no two records to compare.");
        return;
    }
    if (!p.images && !p.inputs) {
        add(section, "p", {}, "They were not looked for: the inputs are files that are not images.");
        return;
    }
    if (!p.count) {
        add(section, "p", {}, `Among the ${plural(view.sampled, "record")} looked at, there are no ${looked}.`);
        return;
    }
    const told = [[p.images, p.equal, "equal inputs"], [view.splits.length > 1, p.splits, "records of different splits"],
        [view.classes, p.classes, "different labels"]].filter(([known]) => known).map(([_, n, what]) => `${n ? count(n) : "none"} with ${what}`);
    add(section, "p", {class: "facts"}, `${plural(p.count, "pair")} of ${looked}${told.length ? `: ${told.join(", ")}` : ""}.` +
        (p.list.length < p.count ? ` The ${count(p.list.length)} that matter most are shown.` : ""));
    paged(section, "pairs", 12, drawPairs)(p.list);
}

/* --------------------------------------------------------------------------------------------- suspects */

function drawSuspects(place, suspects) {
    const list = add(place, "ul", {class: "suspects"});
    for (const s of suspects) {
        const item = add(list, "li"), row = add(item, "div", {class: "two"});
        tile(row, s.record);
        const like = add(item, "div", {class: "like"});
        const told = add(like, "p", {}, `${s.votes} of the ${view.suspects.neighbours} most similar are `);
        add(told, "bdi", {class: "law"}, className(s.class));
        const tiles = add(like, "div", {class: "two"});
        for (const id of s.like)
            tile(tiles, id, 64);
    }
}

function showSuspects(parent) {
    const section = add(parent, "section", {"aria-label": "Suspicious labels"}), s = view.suspects;
    add(section, "h2", {}, "Suspicious labels");
    if (s.judged < 2) {
        add(section, "p", {}, "There are no two images with classes to compare.");
        return;
    }
    add(section, "p", {class: "facts"}, `Of the ${count(s.neighbours)} most similar images (by brightness and colours of 8 × 8 cells, among the ` +
        `${plural(s.judged, "record")} looked at), the most frequent class is that of the record itself in ${share(s.agree, 1)}; by chance ` +
        `it would be in ${share(s.chance, 1)}. The nearer these two are, the less this list says. It is a hint where to look, not a verdict.`);
    if (!s.count) {
        add(section, "p", {}, "No record has a class that its most similar images speak against.");
        return;
    }
    add(section, "p", {}, `${plural(s.count, "record")} ${s.count === 1 ? "has" : "have"} another class than at least seven of ten` +
        (s.list.length < s.count ? `; the ${count(s.list.length)} with the strongest evidence are shown.` : "."));
    paged(section, "suspicious labels", 12, drawSuspects)(s.list);
}

/* ---------------------------------------------------------------------------------------------- the page */

function show() {
    const page = document.createElement("main");
    makeDialog();
    showSheet(page);
    if (view.classes)
        showClasses(page);
    showSplits(page);
    if (isImages)
        showImages(page);
    showFields(page);
    showOdd(page);
    showPairs(page);
    if (view.suspects)
        showSuspects(page);
    document.getElementById("results").replaceWith(page);
}

show();
