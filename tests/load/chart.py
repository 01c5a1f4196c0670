"""A chart of each second of a load: answers, p99 and memory. Plain SVG."""

WIDTH, HEIGHT, LEFT, GAP, TOP = 900, 150, 70, 50, 40
MOST = 450
COLOURS = {"200": "#1b7f3b", "429": "#c77700", "503": "#b00020"}


def draw(seconds, phases):
    panels = [
        ("answers a second", [(status, [second["statuses"].get(status, 0) for second in seconds], mean)
                              for status in sorted({status for second in seconds for status in second["statuses"]})]),
        ("p99, ms", [("p99", [second["p99_us"] / 1000 for second in seconds], max)]),
        ("memory, MB", [("memory", [second["memory"] for second in seconds], max)]),
    ]
    height = TOP + len(panels) * (HEIGHT + GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LEFT + 130} {height}" '
             'font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for number, (title, lines) in enumerate(panels):
        parts += panel(TOP + number * (HEIGHT + GAP), title, lines, len(seconds), phases)
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(top, title, lines, count, phases):
    highest = max(max(values) for _, values, _ in lines) or 1
    yield f'<text x="{LEFT}" y="{top - 6}" font-weight="bold">{title}</text>'
    yield f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>'
    for value in (0, highest / 2, highest):
        y = top + HEIGHT - HEIGHT * value / highest
        yield f'<text x="{LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{value:.4g}</text>'
    begin = 0
    for rate, lasts in phases:
        x = LEFT + WIDTH * begin / count
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + HEIGHT}" stroke="#ccc"/>'
        yield f'<text x="{x + 3:.1f}" y="{top + HEIGHT + 14}" fill="#666">from {begin} s: {rate} a second</text>'
        begin += lasts
    for place, (name, values, together) in enumerate(lines):
        step = -(-len(values) // MOST)
        points = [(start, together(values[start:start + step])) for start in range(0, len(values), step)]
        path = " ".join(f"{LEFT + WIDTH * at / count:.1f},{top + HEIGHT - HEIGHT * value / highest:.1f}"
                        for at, value in points)
        colour = COLOURS.get(name, "#1f4e9c")
        yield f'<polyline points="{path}" fill="none" stroke="{colour}"/>'
        yield f'<text x="{LEFT + WIDTH - 40 * (place + 1)}" y="{top - 6}" fill="{colour}">{name}</text>'


def mean(values):
    return sum(values) / len(values)
