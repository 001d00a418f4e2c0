"""Entropy-coded data of JPEG files, as ITU T.81 has them: reads blocks of segments, writes scans."""

from format_bytes import Wrong, must
from format_progressive import magnitude, progressive_bits

SOF0, SOF1, SOF2, DHT, SOI, SOS, DQT, DRI = 0xC0, 0xC1, 0xC2, 0xC4, 0xD8, 0xDA, 0xDB, 0xDD
APP0, APP14 = 0xE0, 0xEE
GREY, YCBCR, RED_GREEN_BLUE = 0, 1, 2


class Code:
    """A Huffman code: of each string of bits its symbol, and the other way round."""

    def __init__(self, counts, symbols):
        self.symbols, self.bits = bytes(symbols), {}
        code, at = 0, 0
        for length, count in enumerate(counts, 1):
            for symbol in symbols[at : at + count]:
                must(code < (1 << length) - 1, "a code of ones only")
                self.bits[symbol] = f"{code:0{length}b}"
                code += 1
            code, at = code * 2, at + count
        self.symbol_of = {bits: symbol for symbol, bits in self.bits.items()}


class BlockReader:
    """Blocks of a restart interval, without zeros after 0xff: one (DC, AC) pair of codes per component."""

    def __init__(self, data, codes):
        self.bits = f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}" if data else ""
        self.at, self.codes, self.before = 0, codes, [0] * len(codes)

    def take(self, n):
        must(self.at + n <= len(self.bits), "a segment ends early")
        self.at += n
        return self.bits[self.at - n : self.at]

    def symbol(self, code):
        for length in range(1, 17):
            found = code.symbol_of.get(self.bits[self.at : self.at + length])
            if found is not None:
                self.take(length)
                return found
        raise Wrong("an invalid code")

    def value(self, size):
        if size == 0:
            return 0
        bits = self.take(size)
        return int(bits, 2) - (0 if bits[0] == "1" else (1 << size) - 1)

    def block(self, i):
        dc, ac = self.codes[i]
        self.before[i] += self.value(self.symbol(dc))
        block = [self.before[i]] + [0] * 63
        at, zeros = 1, False
        while at < 64:
            symbol = self.symbol(ac)
            if symbol == 0:
                break
            zeros = symbol == 0xF0
            at += symbol >> 4
            must(at < 64, "a run leads beyond the last coefficient")
            block[at] = self.value(symbol & 15)
            at += 1
        must(not zeros, "a run of zeros before an end of block")
        return block

    def rest(self):
        return self.bits[self.at :]


def block_bits(block, before, dc, ac):
    size, bits = magnitude(block[0] - before)
    out, run = [dc.bits[size], bits], 0
    for value in block[1:]:
        if value == 0:
            run += 1
            continue
        out += [ac.bits[0xF0]] * (run // 16)
        size, bits = magnitude(value)
        out += [ac.bits[run % 16 << 4 | size], bits]
        run = 0
    return "".join([*out, ac.bits[0]] if run else out)


class Headers:
    """What the headers of a file define up to a scan."""

    def __init__(self):
        self.codes, self.restart, self.components = {}, 0, []
        self.progressive, self.band = False, None
        self.tables, self.frame, self.jfif, self.adobe = {}, None, False, None

    def read(self, data):
        """The components of the scan that the header is of: number, DC and AC code."""
        at, scan = 0, None
        while at < len(data):
            must(data[at] == 0xFF and scan is None, "a header that is not of segments")
            kind, at = data[at + 1], at + 2
            if kind in (SOI, 0xFF):
                at -= kind == 0xFF
                continue
            length = int.from_bytes(data[at : at + 2], "big")
            must(length >= 2 and at + length <= len(data), "a segment of a header")
            scan = self.segment(kind, data[at + 2 : at + length])
            at += length
        must(scan, "a header without a scan")
        return scan

    def segment(self, kind, body):
        if kind == DHT:
            while body:
                size = 17 + sum(body[1:17])
                self.codes[body[0]] = Code(body[1:17], body[17:size])
                body = body[size:]
        elif kind == DRI:
            self.restart = int.from_bytes(body[:2], "big")
        elif kind == DQT:
            for at in range(0, len(body), 65):
                self.tables[body[at]] = body[at + 1 : at + 65]
        elif kind == APP0 and len(body) >= 14 and body[:5] == b"JFIF\0":
            self.jfif = True
        elif kind == APP14 and len(body) >= 12 and body[:5] == b"Adobe":
            self.adobe = body[11]
        elif kind in (SOF0, SOF1, SOF2):
            self.progressive = kind == SOF2
            self.components = [body[6 + 3 * i] for i in range(body[5])]
            self.frame = body
        elif kind == SOS:
            pairs = [body[1 + 2 * i : 3 + 2 * i] for i in range(body[0])]
            first, last, bits = body[-3:]
            self.band = first, last, bits >> 4, bits & 15
            return [
                (self.components.index(name), self.codes.get(ids >> 4), self.codes.get(0x10 | ids & 15))
                for name, ids in pairs
            ]
        return None


    def colours(self):
        if len(self.components) == 1:
            return GREY
        if self.jfif or self.adobe == 1:
            return YCBCR
        return RED_GREEN_BLUE if self.adobe == 0 or bytes(self.components) == b"RGB" else YCBCR

    def describe(self):
        """What an indexed image's own head says, too."""
        each = [self.frame[7 + 3 * i : 9 + 3 * i] for i in range(len(self.components))]
        return {
            "height": int.from_bytes(self.frame[1:3], "big"),
            "width": int.from_bytes(self.frame[3:5], "big"),
            "colours": self.colours(),
            "sampling": [(s >> 4, s & 15) for s, _ in each] if len(each) > 1 else [(1, 1)],
            "tables": [self.tables.get(table) for _, table in each],
        }


class Covered:
    """Which bits of the coefficients the scans have given."""

    def __init__(self, components):
        self.missing = {(i, k): None for i in range(components) for k in range(64)}

    def add(self, components, band):
        first, last, _, low = band or (0, 63, 0, 0)
        must(band or not any(self.missing[i, 0] == 0 for i in components), "a component in two scans")
        self.missing.update({(i, k): low for i in components for k in range(first, last + 1)})

    def is_whole(self):
        return not any(low != 0 for low in self.missing.values())


def upward(a, b):
    return -(-a // b)


def scan_layout(image, components):
    """Of each MCU of a scan, its blocks: component, column, row."""
    if len(components) == 1:
        i = components[0]
        across, down = image.sampling[i]
        columns = upward(upward(image.width * across, image.across), 8)
        rows = upward(upward(image.height * down, image.down), 8)
        return [[(i, x, y)] for y in range(rows) for x in range(columns)]
    columns, rows = upward(image.width, 8 * image.across), upward(image.height, 8 * image.down)
    return [
        [
            (i, x * image.sampling[i][0] + h, y * image.sampling[i][1] + v)
            for i in components
            for v in range(image.sampling[i][1])
            for h in range(image.sampling[i][0])
        ]
        for y in range(rows)
        for x in range(columns)
    ]


def sequential_bits(blocks, codes):
    before, out = dict.fromkeys(codes, 0), []
    for i, block in blocks:
        out.append(block_bits(block, before[i], *codes[i]))
        before[i] = block[0]
    return "".join(out)


def interval(image, mcus, codes, band, fill):
    blocks = [(i, image.planes[i][y][x]) for mcu in mcus for i, x, y in mcu]
    bits = progressive_bits(blocks, codes, *band) if band else sequential_bits(blocks, codes)
    missing = -len(bits) % 8
    bits += f"{fill & (1 << missing) - 1:0{missing}b}" if missing else ""
    return int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")


def write_file(image, headers, fills, tail):
    """The file, and is it progressive? fills: of each restart interval a byte whose lowest bits fill up its
    last byte; or one for all."""
    defined, out, count = Headers(), [], 0
    covered = Covered(len(image.planes))
    for header in headers:
        scan = defined.read(header)
        must(defined.describe() == image.describe(), "another image than that of the file")
        out.append(header)
        codes = {i: (dc, ac) for i, dc, ac in scan}
        band = defined.band if defined.progressive else None
        covered.add(codes, band)
        mcus = scan_layout(image, list(codes))
        step = defined.restart or len(mcus)
        for number, at in enumerate(range(0, len(mcus), step)):
            if number:
                out.append(bytes([0xFF, 0xD0 + (number - 1) % 8]))
            fill = fills if isinstance(fills, int) else fills[count]
            out.append(interval(image, mcus[at : at + step], codes, band, fill))
            count += 1
    must(isinstance(fills, int) or len(fills) == count, "the list of what fills up last bytes")
    must(covered.is_whole(), "scans that do not give all coefficients")
    must(len(headers) == 1 or tail[:2] == b"\xff\xd9", "something other than the end behind several scans")
    return b"".join([*out, tail]), defined.progressive
