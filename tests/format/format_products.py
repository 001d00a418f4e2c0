"""Products of luma and chroma over the pixels of an MCU, as PRODUCTS in docs/FORMAT.md has them."""

import functools
import math

# The places of a block in zigzag order: by diagonals, of which every other goes up.
ZIGZAG = sorted(
    ((row, column) for row in range(8) for column in range(8)),
    key=lambda at: (sum(at), at[0] if sum(at) % 2 else at[1]),
)


def by_row(block):
    rows = [[0] * 8 for _ in range(8)]
    for (row, column), value in zip(ZIGZAG, block):
        rows[row][column] = value
    return rows


def multiplied(a, b):
    return sum(x * y for p, q in zip(a, b) for x, y in zip(p, q))


def basis(k, x):
    return math.sqrt(1 / 8) if k == 0 else math.cos((2 * x + 1) * k * math.pi / 16) / 2


@functools.cache
def weight(blocks, number, k, u):
    """Of luma's basis function k, in block `number` of those that one of chroma covers, and chroma's u."""
    return round(4096 * sum(basis(u, (8 * number + x) // blocks) * basis(k, x) for x in range(8)))


def lines_of(blocks):
    """Of a row of blocks of luma: along each of its rows, what it is worth for each u."""
    lines = [[0] * 8 for _ in range(8)]
    for x, block in enumerate(blocks):
        for r, values in enumerate(by_row(block)):
            for k, value in enumerate(values):
                for u in range(8 if value else 0):
                    lines[r][u] += value * weight(len(blocks), x, k, u)
    return [[(value + 1024) >> 11 for value in line] for line in lines]


def mcu_products(luma, chroma):
    """Of luma (rows of blocks) and blue, luma and red, over luma's pixels; of blue and red over a block."""
    total = [[0] * 8 for _ in range(8)]
    for y, blocks in enumerate(luma):
        for r, line in enumerate(lines_of(blocks)):
            for v in range(8):
                by = weight(len(luma), y, r, v)
                for u in range(8 if by else 0):
                    total[v][u] += by * line[u]
    blue, red = map(by_row, chroma)
    return multiplied(total, blue) >> 13, multiplied(total, red) >> 13, multiplied(blue, red)
