/*
 * Draws the report of an audit from its data, the JSON document in #data. It takes the place of #results, the table
 * that is there for readers without scripts. All text goes in as text, never as HTML.
 */
const audit = JSON.parse(document.getElementById("data").textContent);

/* 130, 12.8 or 1.02 */
function multiple(v) {
    return v.toFixed(v < 10 ? 2 : v < 100 ? 1 : 0);
}

/* ------------------------------------------------------------------------------------------ p-values */

const IF_UNIFORM = "The probability of what was seen, or of something more extreme, if the order is uniform. ";
const CAPTION_OF_P = {
    good: IF_UNIFORM + "Dots then lie anywhere between 0 and 1; a rejected test is red and lies at 0. Exact tests " +
        "leave nothing to chance.",
    differs: IF_UNIFORM + "Tests that differ from that are red and lie at 0.",
};

function drawP(parent, findings, caption) {
    const row = 17, top = 8, left = 150, right = 345, bottom = top + row * findings.length;
    const x = linear(0, 1, left, right);
    const svg = chart(parent, "p-values", caption, bottom + 36);
    for (const p of [0, 0.5, 1]) {
        line(svg, "grid", x(p), top, x(p), bottom);
        label(svg, x(p), bottom + 14, "middle", `${p}`);
    }
    label(svg, x(0.5), bottom + 30, "middle", "p-value");
    findings.forEach((f, i) => {
        const y = top + row * (i + 0.5);
        label(svg, left - 8, y + 3.5, "end", f.test);
        if (f.exact && !f.rejected) { /* it has no place between 0 and 1 */
            label(svg, right, y + 3.5, "end", "exact");
            return;
        }
        const dot = add(svg, "circle", {class: f.rejected ? "dot outside" : "dot", cx: x(f.p), cy: y, r: 4});
        add(dot, "title", {}, `${f.test}: p = ${f.p_text}`);
    });
}

/* ----------------------------------------------------------------------------------------------- map */

const SHADES = 5; /* to either side of none */
const OPACITY = [1, 0.3, 0.45, 0.6, 0.8, 1];

function shadeClass(shade) {
    return shade > 0 ? "shade more" : shade < 0 ? "shade fewer" : "shade";
}

function legend(svg) {
    const side = 11, left = AREA.left + 16, top = AREA.top - 16;
    label(svg, AREA.left, top + 9.5, "start", `-${SHADES}`);
    for (let shade = -SHADES; shade <= SHADES; shade++)
        add(svg, "rect", {class: shadeClass(shade), opacity: OPACITY[Math.abs(shade)],
            x: left + side * (shade + SHADES), y: top, width: side, height: side});
    label(svg, left + side * (2 * SHADES + 1) + 4, top + 9.5, "start", `+${SHADES} standard deviations`);
}

function drawMap(parent, map) {
    const svg = chart(parent, "Positions of blocks",
        `Each row is a stretch of the store, each column a stretch of the epoch. A cell is red where more, and blue ` +
        `where fewer, of its records came than expected (${count(map.due)}). A uniform order gives noise: few strong ` +
        `colours, no bands, no diagonals.`);
    const deviation = Math.sqrt(1 / map.due), cells = new Map();
    map.share.forEach((share, i) => {
        const shade = Math.max(-SHADES, Math.min(SHADES, Math.trunc((share - 1) / deviation)));
        const cell = `M${i % map.columns} ${Math.floor(i / map.columns)}h1v1h-1z`;
        cells.set(shade, (cells.get(shade) || "") + cell);
    });
    legend(svg);
    const across = (AREA.right - AREA.left) / map.columns, down = (AREA.bottom - AREA.top) / map.rows;
    const group = add(svg, "g", {transform: `translate(${AREA.left} ${AREA.top}) scale(${across} ${down})`});
    for (const [shade, d] of cells) /* a path for each shade */
        add(group, "path", {class: shadeClass(shade), opacity: OPACITY[Math.abs(shade)], d});
    label(svg, AREA.left, AREA.bottom + 15, "start", "start of the epoch");
    label(svg, AREA.right, AREA.bottom + 15, "end", "its end");
    label(svg, 0, 0, "middle", "blocks, as stored")
        .setAttribute("transform", `translate(${AREA.left - 10} ${(AREA.top + AREA.bottom) / 2}) rotate(-90)`);
}

/* ---------------------------------------------------------------------------------------------- lags */

function drawLags(parent, lags) {
    const band = 3.2905 * lags.deviation; /* 999 of 1,000 normal values lie within */
    const most = 1.1 * Math.max(band, ...lags.correlation.map(Math.abs)), n = lags.correlation.length;
    const x = linear(0, n + 1, AREA.left, AREA.right), y = linear(-most, most, AREA.bottom, AREA.top);
    const svg = chart(parent, "Serial correlation",
        "How far a record's place in the store predicts that of the record so many positions later. If the order is " +
        "uniform, 999 of 1,000 lines end in the shaded band; one outside it now and then means nothing: the test " +
        "judges all of them together.");
    add(svg, "rect", {class: "band", x: AREA.left, y: y(band), width: AREA.right - AREA.left,
        height: y(-band) - y(band)});
    const step = roundUp(most / 2.75);
    for (let i = -2; i <= 2; i++)
        if (Math.abs(i * step) < most)
            tickY(svg, y(i * step), (i > 0 ? "+" : "") + +(i * step).toPrecision(2));
    lags.correlation.forEach((value, i) => {
        const kind = Math.abs(value) > band ? "stem outside" : "stem";
        const stem = line(svg, kind, x(i + 1), y(0), x(i + 1), y(value));
        add(stem, "title", {}, `lag ${i + 1}: ${value.toPrecision(2)}`);
    });
    for (let lag = 1; lag <= n; lag = lag === 1 ? 16 : lag + 16)
        tickX(svg, x(lag), `${lag}`);
    titles(svg, "lag, in positions", "correlation");
}

/* ------------------------------------------------------------------------------------------- batches */

function drawBatches(parent, batches) {
    const {from, seen, due} = batches, to = from + seen.length - 1;
    const most = 1.1 * Math.max(...seen, ...due);
    const x = linear(from - 1, to + 1, AREA.left, AREA.right), y = linear(0, most, AREA.bottom, AREA.top);
    const svg = chart(parent, "Classes in batches",
        `Bars: how many of a batch's ${count(batches.drawn)} records are of one class, over ` +
        `${count(batches.looked_at)} batches and classes (those with ${count(batches.marked)} records each). Dashed: ` +
        `drawing without replacement, the hypergeometric law. If the order is uniform, the bars follow the line; a ` +
        `wider or narrower shape means batches that are too uneven or too even.`);
    const step = roundUp(most / 5.5);
    for (let v = 0; v < most; v += step)
        tickY(svg, y(v), `${+(100 * v).toPrecision(2)}%`);
    const width = x(1) - x(0);
    seen.forEach((share, i) => {
        const bar = add(svg, "rect", {class: "bar", x: x(from + i) - 0.45 * width, y: y(share), width: 0.9 * width,
            height: AREA.bottom - y(share)});
        add(bar, "title", {}, `${from + i} records: ${(100 * share).toPrecision(3)}%`);
    });
    polyline(svg, "law", due.map((share, i) => [x(from + i), y(share)]));
    const every = Math.max(1, roundUp(seen.length / 6));
    for (let k = Math.ceil(from / every) * every; k <= to; k += every)
        tickX(svg, x(k), `${k}`);
    titles(svg, "records of a class in a batch", "share of all batches and classes");
}

/* ------------------------------------------------------------------------------------------- windows */

const PARTS = [[1, "all"], [0.1, "1/10"], [0.01, "1/100"], [0.001, "1/1,000"], [0.0001, "1/10,000"]];

function drawWindows(parent, windows, records, what, title, caption) {
    const most = Math.max(2, ...windows.map(w => w.stored[what]));
    const low = Math.min(windows[0].window, records / 2);
    const x = logarithmic(low, records, AREA.left, AREA.right), y = logarithmic(0.8, 1.2 * most, AREA.bottom, AREA.top);
    const svg = chart(parent, title, caption);
    for (let v = 1; v <= 1.2 * most; v *= most > 40 ? 10 : most > 8 ? 4 : 2)
        tickY(svg, y(v), `${v}`);
    for (const [kind, of] of [["seen", "stored"], ["law", "shuffled"]])
        polyline(svg, kind, windows.map(w => [x(w.window), y(Math.max(0.8, w[of][what]))]));
    for (const [part, name] of PARTS)
        if (part * records >= low)
            tickX(svg, x(part * records), name);
    titles(svg, "window, as a part of the split", "times what is expected");
}

function tabulateWindows(parent, windows) {
    add(parent, "h2", {}, "Windows");
    add(parent, "p", {class: "facts"}, "As multiples of what a uniform order gives.");
    const table = add(parent, "table", {class: "windows"}), head = add(table, "thead"), body = add(table, "tbody");
    const first = add(head, "tr"), second = add(head, "tr");
    add(first, "td");
    add(first, "th", {class: "number", colspan: 2}, "as stored");
    add(first, "th", {class: "number", colspan: 2}, "if shuffled at ingest");
    for (const name of ["window, records", "neighbours", "classes", "neighbours", "classes"])
        add(second, "th", {class: "number"}, name);
    for (const w of windows) {
        const row = add(body, "tr"), {stored, shuffled} = w;
        add(row, "td", {class: "number"}, count(w.window));
        for (const value of [stored.neighbours, stored.classes, shuffled.neighbours, shuffled.classes])
            add(row, "td", {class: "number"}, multiple(value));
    }
}

/* ------------------------------------------------------------------------------------------ sections */

function tabulateFindings(parent, findings) {
    const table = add(parent, "table"), head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
    add(head, "th", {}, "test");
    add(head, "th", {}, "result");
    add(head, "th", {class: "number"}, "p");
    for (const f of findings) {
        const row = add(body, "tr"), more = add(add(body, "tr", {class: "more"}), "td", {colspan: 3});
        add(row, "th", {scope: "row"}, f.test);
        add(row, "td", {class: f.result === "rejected" ? "result bad" : "result"}, f.result);
        add(row, "td", {class: "number"}, f.p_text);
        more.append(`If all is right, ${f.hypothesis}.`);
        const details = add(more, "details");
        add(details, "summary", {}, f.detail || "the statistic");
        const list = add(details, "dl"), freedom = f.df ? `, with ${f.df} degrees of freedom` : "";
        add(list, "dt", {}, "Statistic");
        add(list, "dd", {}, `${f.statistic} = ${+f.value.toPrecision(5)}${freedom}`);
        if (f.detectable > 0) {
            add(list, "dt", {}, "Departure found nine times in ten");
            add(list, "dd", {}, `${+f.detectable.toPrecision(2)} ${f.detectable_unit}`);
        }
    }
}

function drawOrder(parent, order, caption) {
    const plots = add(parent, "div", {class: "plots"});
    drawP(plots, order.findings, caption);
    if (order.map)
        drawMap(plots, order.map);
    if (order.lags)
        drawLags(plots, order.lags);
    if (order.batches)
        drawBatches(plots, order.batches);
    return plots;
}

function showOrder(parent) {
    add(parent, "h2", {}, "The order");
    add(parent, "p", {class: "facts"}, audit.order);
    const plots = drawOrder(parent, audit, CAPTION_OF_P[audit.judged_as_uniform ? "good" : "differs"]);
    if (audit.windows)
        drawWindows(plots, audit.windows, audit.records, "neighbours", "Windows: neighbours",
            "How often two records that were neighbours at the source (in one block) follow each other, as a " +
            "multiple of chance. Solid: this store; dashed: if its records had been shuffled at ingest. At 1, a window " +
            "mixes as well as one that covers the split.");
    if (audit.windows && audit.windows.some(w => w.stored.classes > 0))
        drawWindows(plots, audit.windows, audit.records, "classes", "Windows: classes",
            "Variance of the number of records of a class in a batch, as a multiple of what a uniform order gives. " +
            "Far above 1, batches are one-sided: choose a larger window, or shuffle at ingest (dashed).");
    add(parent, "h2", {}, "The order, test by test");
    tabulateFindings(parent, audit.findings);
    if (audit.windows)
        tabulateWindows(parent, audit.windows);
}

function showSplit(parent, split) {
    add(parent, "h2", {}, `The split ${split.name}`);
    add(parent, "p", {class: "facts"}, split.text);
    tabulateFindings(parent, split.findings);
}

function showShared(parent) {
    add(parent, "h2", {}, "Equal inputs in the source's own splits");
    const list = add(parent, "ul");
    for (const shared of audit.equal_inputs) {
        const how = shared.split === shared.with ? "repeat the inputs of an earlier one"
            : `have the inputs of one of ${shared.with}`;
        add(list, "li", {}, `${shared.split}: ${count(shared.records)} of ${count(shared.of)} records ${how}`);
    }
    if (audit.more_equal_inputs)
        add(parent, "p", {class: "facts"}, audit.more_equal_inputs);
}

/* How to read the charts is said once. */
function showControl(parent, control, first) {
    const title = add(parent, "h2", {}, `${control.control}: `);
    add(title, "span", {class: control.as_due ? "good" : "bad"}, control.result);
    const by = control.findings.filter(f => f.rejected).map(f => f.test).join(", ");
    const what = control.what.charAt(0).toUpperCase() + control.what.slice(1);
    add(parent, "p", {}, `${what}. ${by ? `Rejected by: ${by}.` : "Nothing is rejected."}`);
    const plots = drawOrder(parent, control, CAPTION_OF_P.good);
    plots.classList.add("four");
    if (!first)
        plots.querySelectorAll("figcaption").forEach(caption => caption.remove());
}

function show() {
    const report = document.createElement("main");
    add(report, "p", {class: "facts"}, `Audit of ${audit.db}. ${audit.introduction}`);
    if (audit.findings)
        showOrder(report);
    for (const split of audit.splits || [])
        showSplit(report, split);
    if (audit.equal_inputs)
        showShared(report);
    (audit.controls || []).filter(control => control.tried)
        .forEach((control, i) => showControl(report, control, i === 0));
    document.getElementById("results").replaceWith(report);
}

show();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));
