/*
 * What pages of several commands draw with: elements and charts. All text goes in as text, never as HTML.
 */
"use strict";

/* ------------------------------------------------------------------------------------------ elements */

function add(parent, name, attributes = {}, text = null) {
    const node = document.createElementNS(parent.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes))
        node.setAttribute(key, typeof value === "number" ? +value.toFixed(2) : value);
    if (text !== null)
        node.textContent = text;
    parent.append(node);
    return node;
}

function count(n) {
    return Math.round(n).toLocaleString("en-US");
}

/* -------------------------------------------------------------------------------------------- charts */

/* A chart, in units of about a pixel on a telephone, and its plot area. */
const WIDTH = 360, HEIGHT = 240;
const AREA = {left: 54, right: 350, top: 20, bottom: 204};

function chart(parent, title, caption, height = HEIGHT) {
    const figure = document.getElementById("figure").content.firstElementChild.cloneNode(true);
    const svg = figure.querySelector("svg");
    figure.querySelector("h3").textContent = title;
    figure.querySelector("figcaption").textContent = caption;
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
    svg.setAttribute("aria-label", title);
    parent.append(figure);
    return svg;
}

function linear(low, high, from, to) {
    return v => from + (to - from) * (v - low) / (high - low);
}

function logarithmic(low, high, from, to) {
    return v => from + (to - from) * Math.log(v / low) / Math.log(high / low);
}

const pen = document.createElement("canvas").getContext("2d");

function labelWidth(text) {
    pen.font = "11px system-ui, sans-serif"; /* of style.css */
    return pen.measureText(text).width;
}

function label(svg, x, y, anchor, text) {
    return add(svg, "text", {x, y, "text-anchor": anchor}, text);
}

function line(svg, kind, x1, y1, x2, y2) {
    return add(svg, "line", {class: kind, x1, y1, x2, y2});
}

function tickX(svg, x, text) {
    line(svg, "grid", x, AREA.bottom, x, AREA.bottom + 4);
    label(svg, Math.min(x, WIDTH - labelWidth(text) / 2), AREA.bottom + 15, "middle", text);
}

function tickY(svg, y, text) {
    line(svg, "grid", AREA.left, y, AREA.right, y);
    label(svg, AREA.left - 5, y + 3.5, "end", text);
}

function titles(svg, horizontal, vertical) {
    label(svg, AREA.left, AREA.top - 8, "start", vertical);
    label(svg, (AREA.left + AREA.right) / 2, AREA.bottom + 30, "middle", horizontal);
}

function polyline(svg, kind, points) {
    add(svg, "polyline", {class: kind, points: points.map(p => p.map(v => v.toFixed(1)).join()).join(" ")});
}

/* A distance between ticks: the least of 1, 2 and 5 times a power of ten that is no less than v. */
function roundUp(v) {
    const power = 10 ** Math.floor(Math.log10(v)), times = v / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}
