"""`jaxmark compare`: from flags to a comparison, and its exit code."""

from __future__ import annotations

from argparse import Namespace

from suite.errors import ConfigError

_PERCENT_MOST = 1000.0


def compare(asked: Namespace) -> int:
    """Compares runs; 0 fine, 1 regression or failed case, 3 nothing comparable, 4 inconclusive (--strict).

    Raises:
        ResultFileError: a file cannot be read.
        ConfigError: a flag cannot be understood, a run is there twice, or there is only one.
    """
    from suite.analysis.compare import compare as compare_sides
    from suite.analysis.compare import exit_code
    from suite.analysis.sides import gather
    from suite.analysis.verdict import Margin, margin_for

    threshold = parse_threshold(asked.threshold)
    gathered = gather([asked.base, *asked.new])
    platform = gathered.sides[0].environment.machine.platform

    def margin_of(key: str, verdicts: int) -> Margin:
        return margin_for(threshold, None, None, platform)

    comparison = compare_sides(gathered, asked.metric, threshold, margin_of)
    code = exit_code(comparison, asked.strict)
    if asked.format == "text":
        from suite.report.comparing.text import show_comparison
        from suite.report.text import make_console

        show_comparison(comparison, make_console())
    elif asked.format == "markdown":
        from suite.report.comparing.markdown import as_markdown

        print(as_markdown(comparison))
    else:
        from suite.report.comparing import data

        print(data.as_json(comparison, asked.strict) if asked.format == "json" else data.as_csv(comparison))
    return code


def parse_threshold(text: str) -> float:
    """'5%' or '0.05' as a fraction.

    Raises:
        ConfigError: it is neither, or a number without '%' that can only be meant as percent.
    """
    expected = "--threshold: expected a share such as 5% or 0.05"
    number, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        value = float(number)
    except ValueError as error:
        raise ConfigError(f"{expected}, found {text!r}.") from error
    if percent and 0 < value <= _PERCENT_MOST:
        return value / 100
    if not percent and 0 < value < 1:
        return value
    meant = f" Did you mean {number}%?" if not percent and 1 <= value <= 100 else ""
    raise ConfigError(f"{expected}, above 0, found {text!r}.{meant}")
