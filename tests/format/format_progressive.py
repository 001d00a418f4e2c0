"""Scans of progressive JPEG files, written as "Progressive scans" in docs/FORMAT.md says."""

MOST_BLOCKS, MOST_BITS = 0x7FFF, 937


def magnitude(value):
    size = abs(value).bit_length()
    return size, f"{value + ((1 << size) - 1 if value < 0 else 0):0{size}b}" if size else ""


def progressive_bits(blocks, codes, first, last, high, low):
    """The bits of a restart interval: blocks are pairs of a component and 64 values."""
    if first == 0:
        return refined_dc(blocks, low) if high else first_dc(blocks, codes, low)
    band = Band(codes[blocks[0][0]][1], low)
    for _, block in blocks:
        (band.refine if high else band.begin)(block[first : last + 1])
    band.end_blocks()
    return "".join(band.out)


def first_dc(blocks, codes, low):
    before, out = dict.fromkeys(codes, 0), []
    for i, block in blocks:
        size, bits = magnitude((block[0] >> low) - before[i])
        out += [codes[i][0].bits[size], bits]
        before[i] = block[0] >> low
    return "".join(out)


def refined_dc(blocks, low):
    return "".join(str(block[0] >> low & 1) for _, block in blocks)


class Band:
    """Coefficients of one component: `ended` blocks, and bits that correct them, are yet to be written."""

    def __init__(self, code, low):
        self.code, self.low, self.out = code, low, []
        self.ended, self.corrections = 0, ""

    def end_blocks(self):
        if self.ended:
            size = self.ended.bit_length() - 1
            self.out += [self.code.bits[size << 4], f"{self.ended:b}"[1:], self.corrections]
        self.ended, self.corrections = 0, ""

    def put(self, symbol, bits):
        self.end_blocks()
        self.out += [self.code.bits[symbol], bits]

    def end(self, corrections):
        self.ended += 1
        self.corrections += corrections
        if self.ended == MOST_BLOCKS or len(self.corrections) > MOST_BITS:
            self.end_blocks()

    def begin(self, values):
        run = 0
        for value in values:
            shifted = (abs(value) >> self.low) * (1 if value > 0 else -1)
            if shifted == 0:
                run += 1
                continue
            for _ in range(run // 16):
                self.put(0xF0, "")
            size, bits = magnitude(shifted)
            self.put(run % 16 << 4 | size, bits)
            run = 0
        if run:
            self.end("")

    def refine(self, values):
        shifted = [abs(value) >> self.low for value in values]
        new = max((k for k, value in enumerate(shifted) if value == 1), default=-1)
        run, corrections = 0, ""
        for k, value in enumerate(shifted):
            if value == 0:
                run += 1
                continue
            while run > 15 and k <= new:
                self.put(0xF0, corrections)
                run, corrections = run - 16, ""
            if value > 1:
                corrections += str(value & 1)
                continue
            self.put(run << 4 | 1, "1" + corrections if values[k] > 0 else "0" + corrections)
            run, corrections = 0, ""
        if run or corrections:
            self.end(corrections)
