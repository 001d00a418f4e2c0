"""Indexed values, as "Indexed columns" in docs/FORMAT.md has them: JPEG files, restored to the byte."""

from format_bytes import Bytes, check_xxh3, frame, must
from format_jpeg_file import GREY, RED_GREEN_BLUE, BlockReader, Code, upward, write_file
from format_products import mcu_products

AS_IT_CAME, AN_INDEXED_JPEG, PROGRESSIVE = 0, 1, 2
MOST_SCANS = 100
# Of each sampling, the blocks of the first component that an MCU has, across and down.
SAMPLINGS = {0: (1, 1), 1: (1, 1), 2: (2, 1), 3: (2, 2), 4: (1, 2)}
ZEROS, ONES, LISTED = 0, 1, 2

DC_SIZES = set(range(12))
AC_SYMBOLS = {0x00, 0xF0} | {run << 4 | size for run in range(16) for size in range(1, 11)}

# T.81, annex K.3: counts of codes of 1 ... 16 bits, and symbols.
DC_LUMINANCE = "00010501010101010100000000000000 000102030405060708090a0b"
DC_CHROMINANCE = "00030101010101010101010000000000 000102030405060708090a0b"
AC_LUMINANCE = (
    "0002010303020403050504040000017d"
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a"
    "3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a929394"
    "95969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8"
    "e9eaf1f2f3f4f5f6f7f8f9fa"
)
AC_CHROMINANCE = (
    "00020102040403040705040400010277"
    "000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728"
    "292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92"
    "939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7"
    "e8e9eaf2f3f4f5f6f7f8f9fa"
)


def usual_codes():
    """The four DHT segments that the prefix ends with."""
    out = b""
    for number, code in (
        (0x00, DC_LUMINANCE),
        (0x10, AC_LUMINANCE),
        (0x01, DC_CHROMINANCE),
        (0x11, AC_CHROMINANCE),
    ):
        body = bytes([number]) + bytes.fromhex(code)
        out += b"\xff\xc4" + (len(body) + 2).to_bytes(2, "big") + body
    return out


def read_code(c, symbols):
    counts = c.take(16)
    code = Code(counts, c.take(sum(counts)))
    must(code.symbols and set(code.symbols) <= symbols, "symbols of a Huffman code")
    must(len(set(code.symbols)) == len(code.symbols), "a symbol occurs twice")
    return code


class Image:
    """An indexed value: of each component the coefficients, rows of blocks of 64, in zigzag order."""

    def __init__(self, value):
        c = Bytes(value)
        layout, sampling, colours, self.per_segment = c.numbers("BBBB")
        must(layout == 1 and sampling in SAMPLINGS and colours <= 2, "layout, sampling or colours")
        must((sampling == 0) == (colours == GREY), "grey, and only grey")
        must(1 <= self.per_segment <= 32, "MCUs of a segment")
        self.width, self.height = c.numbers("HH")
        must(1 <= self.width * self.height <= 1 << 26, "width and height")
        self.end = c.number("I")
        components = 1 if colours == GREY else 3
        count = c.number("B")
        must(1 <= count <= components, "quantisation tables")
        tables = [c.take(64) for _ in range(count)]
        self.kind = colours
        self.tables = [tables[min(i, count - 1)] for i in range(components)]
        must(all(map(all, tables)), "a quantisation table")
        self.prefix = b"".join(tables) + usual_codes()
        self.across, self.down = SAMPLINGS[sampling]
        self.sampling = [(self.across, self.down)] + [(1, 1)] * (components - 1)
        pairs = [(read_code(c, DC_SIZES), read_code(c, AC_SYMBOLS)) for _ in range(min(components, 2))]
        self.codes = [pairs[min(i, 1)] for i in range(components)]
        self.read_segments(c)
        must(c.at == self.end, "the segments end elsewhere")
        self.restoring = value[self.end :]

    def describe(self):
        return {
            "height": self.height,
            "width": self.width,
            "colours": self.kind,
            "sampling": self.sampling,
            "tables": self.tables,
        }

    def read_segments(self, c):
        per_row = upward(upward(self.width, 8 * self.across), self.per_segment)
        rows = upward(self.height, 8 * self.down)
        sizes = c.numbers("H" * (per_row * rows))
        self.planes = [
            [[None] * (per_row * self.per_segment * across) for _ in range(rows * down)]
            for across, down in self.sampling
        ]
        for number, size in enumerate(sizes):
            self.read_segment(c.take(size), number // per_row, number % per_row * self.per_segment)

    def read_segment(self, data, row, first):
        reader = BlockReader(data, self.codes)
        for mcu in range(first, first + self.per_segment):
            for i, (across, down) in enumerate(self.sampling):
                for y in range(down):
                    for x in range(across):
                        block = reader.block(i)
                        must(abs(block[0]) <= 2047, "a value of DC")
                        self.planes[i][row * down + y][mcu * across + x] = block
        must(len(reader.rest()) < 8 and "0" not in reader.rest(), "what fills up a segment")

    def colours(self):
        """What the image adds to IMAGES and PRODUCTS; None if its components are red, green and blue."""
        if self.kind == RED_GREEN_BLUE:
            return None
        sums, squares, products, over_pixels = [0] * 3, [0] * 3, [0] * 3, [0] * 3
        for row in range(upward(self.height, 8 * self.down)):
            for column in range(upward(self.width, 8 * self.across)):
                found = [0] * 3
                for i in range(len(self.planes)):
                    found[i], energy = self.mcu(i, row, column)
                    sums[i] += found[i]
                    squares[i] += energy
                for k, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
                    if b < len(self.planes):
                        products[k] += found[a] * self.scaled(b, self.planes[b][row][column])[0]
                if len(self.planes) > 1:
                    pixels = within(column, 8 * self.across, self.width)
                    pixels *= within(row, 8 * self.down, self.height)
                    for k, product in enumerate(self.pixel_products(row, column)):
                        over_pixels[k] += product * pixels
        blocks = self.across * self.down
        return (
            1,
            self.width * self.height,
            *(s // 8 for s in sums),
            *(q // 64 for q in squares),
            *(p // 64 for p in products),
            *(p // (64 * n) for p, n in zip(over_pixels, (blocks, blocks, 1))),
        )

    def pixel_products(self, row, column):
        luma = [
            [
                self.scaled(0, self.planes[0][row * self.down + y][column * self.across + x])
                for x in range(self.across)
            ]
            for y in range(self.down)
        ]
        return mcu_products(luma, [self.scaled(c, self.planes[c][row][column]) for c in (1, 2)])

    def scaled(self, i, block):
        return [max(-2047, min(2047, v * q)) for v, q in zip(block, self.tables[i])]

    def mcu(self, i, row, column):
        """Eighths of the sum, and 64ths of that of squares, over the pixels of a component in an MCU."""
        across, down = self.sampling[i]
        width, height = 8 * self.across // across, 8 * self.down // down
        total = energy = 0
        for y in range(row * down, (row + 1) * down):
            for x in range(column * across, (column + 1) * across):
                pixels = within(x, width, self.width) * within(y, height, self.height)
                values = [max(-2047, min(2047, v * q)) for v, q in zip(self.planes[i][y][x], self.tables[i])]
                total += values[0] * pixels
                energy += sum(v * v for v in values) * pixels
        return total, energy


def within(number, size, end):
    """Of `size` pixels from number * size on, those below `end`."""
    return max(0, min(size, end - number * size))


def read_parts(image):
    c = Bytes(image.restoring)
    checksum, size, fill = c.numbers("QIB")
    must(fill <= LISTED, "how last bytes are filled up")
    parts = Bytes(frame(c.take(c.left()), size, image.prefix))
    scans = parts.number("B")
    must(1 <= scans <= MOST_SCANS, "scans")
    sizes, listed = parts.numbers("I" * scans), parts.number("I")
    headers = [parts.take(n) for n in sizes]
    fills = parts.take(listed)
    must(fill == LISTED or not fills, "a list that nothing needs")
    return checksum, size, headers, {ZEROS: 0, ONES: 255, LISTED: fills}[fill], parts.take(parts.left())


def restore(value, file_size, form):
    """The file of an indexed value, and what it adds to IMAGES."""
    image = Image(value)
    checksum, size, headers, fills, tail = read_parts(image)
    must(size <= 2 * file_size + 32, "size of the parts")
    file, progressive = write_file(image, headers, fills, tail)
    must(progressive == (form == PROGRESSIVE), "the form of a value is another")
    must(len(file) == file_size, f"a file of {len(file)} bytes instead of {file_size}")
    check_xxh3(file, checksum, "the file")
    return file, image.colours()


def read_indexed(coded, coded_sum, n, name):
    """The raw bytes: sizes of files, and the files; how many are indexed, and progressive; what each adds to
    IMAGES."""
    c = Bytes(coded)
    stored, sizes = c.numbers("I" * n), c.numbers("I" * n)
    sums, forms = c.numbers("Q" * n), c.numbers("B" * n)
    check_xxh3(coded[: c.at], coded_sum, f"{name}: index")
    files, colours = [], []
    for i in range(n):
        value = c.take(stored[i])
        check_xxh3(value, sums[i], f"{name}: value {i}")
        must(forms[i] in (AS_IT_CAME, AN_INDEXED_JPEG, PROGRESSIVE), f"{name}: form of value {i}")
        file, of = restore(value, sizes[i], forms[i]) if forms[i] else (value, None)
        files.append(file)
        colours.append(of)
        must(len(files[-1]) == sizes[i], f"{name}: size of file {i}")
    must(c.left() == 0, "bytes behind the values")
    return (
        coded[4 * n : 8 * n] + b"".join(files),
        n - forms.count(AS_IT_CAME),
        forms.count(PROGRESSIVE),
        colours,
    )
