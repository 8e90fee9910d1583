//! A picture: title, axes, lines, and a legend beside them.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::scale::Axis;
use super::series::Series;
use crate::report::record::PlotRecord;

/// What is drawn.
pub(super) struct Picture<'a> {
    pub title: String,
    pub subtitle: String,
    pub plot: &'a PlotRecord,
    /// Each with a point.
    pub lines: &'a [Series],
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Error = DrawingAreaErrorKind<std::io::Error>;
type Result<T> = std::result::Result<T, Error>;

const FONT: &str = "sans-serif";
/// Heights of a line of text: the writer makes a font 1/1.24 of it, so these are fonts of 18, 13 and 12 pixels.
const TITLE: i32 = 22;
const TEXT: i32 = 16;
const TICK: i32 = 15;
/// Of the part with the axes; the legend stands to its right.
const CHART_SIZE: (u32, u32) = (800, 560);
const HEAD_HEIGHT: u32 = 62;
const LEFT: i32 = 16;
/// Of the labels along the axes and the axes' names.
const LABELS_X: u32 = 52;
const LABELS_Y: u32 = 82;
const MARGIN: u32 = 16;
const LEGEND_LINE: i32 = 22;
/// The piece of line in the legend.
const LEGEND_SAMPLE: i32 = 34;
/// A character of the legend, at its font's size; proportional fonts are narrower on average.
const CHARACTER: usize = 8;
const MARK: i32 = 4;
const WIDTH: u32 = 2;
/// Of a dashed line, pixels.
const DASH: (i32, i32) = (7, 5);
const TEXT_MAX: usize = 100;

/// Okabe and Ito's palette without its yellow, which is too light for a line on white. From "Color Universal Design",
/// 2008: distinct with every common kind of colour blindness.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
const INK: RGBColor = RGBColor(40, 40, 40);
const FAINT: RGBColor = RGBColor(100, 100, 100);
const GRID: RGBColor = RGBColor(226, 226, 226);

/// How a line looks. Colour and mark repeat together only after their product.
#[derive(Clone, Copy)]
struct Look {
    colour: RGBColor,
    mark: usize,
    dashed: bool,
}

const MARKS: usize = 6;

impl Look {
    fn of(index: usize, series: &Series) -> Self {
        Self {
            colour: COLOURS[index % COLOURS.len()],
            // 7 colours and 6 marks: each pair comes up once in 42.
            mark: index % MARKS,
            dashed: series.host_clock,
        }
    }
}

/// The picture as SVG.
///
/// # Errors
/// When the writer fails.
pub(super) fn svg(picture: &Picture<'_>) -> Result<String> {
    let names: Vec<String> = picture.lines.iter().map(legend_name).collect();
    let longest = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let legend = (LEGEND_SAMPLE + LEFT) as u32 + (longest * CHARACTER) as u32;
    // The lowest entry of a long legend is inside the picture too.
    let entries = (names.len() as u32 + 1) * LEGEND_LINE as u32;
    let height = CHART_SIZE.1.max(HEAD_HEIGHT + entries);
    let mut text = String::new();
    {
        let root =
            SVGBackend::with_string(&mut text, (CHART_SIZE.0 + legend, height)).into_drawing_area();
        root.fill(&WHITE)?;
        write(&root, &picture.title, (LEFT, 12), TITLE, INK, true)?;
        write(&root, &picture.subtitle, (LEFT, 38), TEXT, FAINT, false)?;
        chart(&root, picture)?;
        for (index, (series, name)) in picture.lines.iter().zip(&names).enumerate() {
            let look = Look::of(index, series);
            let y = HEAD_HEIGHT as i32 + MARGIN as i32 + index as i32 * LEGEND_LINE;
            let x = CHART_SIZE.0 as i32;
            line(&root, vec![(x, y), (x + LEGEND_SAMPLE - 8, y)], look)?;
            mark(&root, (x + (LEGEND_SAMPLE - 8) / 2, y), look)?;
            write(&root, name, (x + LEGEND_SAMPLE, y - 7), TEXT, INK, false)?;
        }
        root.present()?;
    }
    Ok(text)
}

fn legend_name(series: &Series) -> String {
    let clock = if series.host_clock {
        " (host clock)"
    } else {
        ""
    };
    format!("{}{clock}", readable(&series.name, TEXT_MAX / 2))
}

/// For the writer a value is its place on the axis.
impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        let part = (place - self.range.0) / (self.range.1 - self.range.0);
        from + (part * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.0..self.range.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, place: &f64) -> String {
        self.label(*place)
    }
}

/// The axes and the lines.
fn chart(root: &Area<'_>, picture: &Picture<'_>) -> Result<()> {
    let plot = picture.plot;
    let points = || picture.lines.iter().flat_map(|series| &series.points);
    let x = Axis::over(points().map(|(x, _)| *x), plot.x_scale, false);
    let y = Axis::over(points().map(|(_, y)| *y), plot.y_scale, true);
    let area = root.clone().shrink(
        (0, HEAD_HEIGHT),
        (CHART_SIZE.0 - MARGIN, CHART_SIZE.1 - HEAD_HEIGHT),
    );
    let mut chart = ChartBuilder::on(&area)
        .margin(MARGIN)
        .margin_top(8)
        .x_label_area_size(LABELS_X)
        .y_label_area_size(LABELS_Y)
        .build_cartesian_2d(x.clone(), y.clone())?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style((FONT, TICK, &INK))
        .axis_desc_style((FONT, TEXT, &INK))
        .x_desc(readable(&plot.x_label, TEXT_MAX))
        .y_desc(readable(&plot.y_label, TEXT_MAX / 2))
        .draw()?;
    for (index, series) in picture.lines.iter().enumerate() {
        let look = Look::of(index, series);
        let pixel = |(px, py): &(f64, f64)| chart.backend_coord(&(x.place(*px), y.place(*py)));
        let pixels: Vec<(i32, i32)> = series.points.iter().map(pixel).collect();
        line(root, pixels.clone(), look)?;
        for pixel in pixels {
            mark(root, pixel, look)?;
        }
    }
    Ok(())
}

fn line(area: &Area<'_>, pixels: Vec<(i32, i32)>, look: Look) -> Result<()> {
    let style = look.colour.stroke_width(WIDTH);
    if look.dashed {
        area.draw(&DashedPathElement::new(pixels, DASH.0, DASH.1, style))
    } else {
        area.draw(&PathElement::new(pixels, style))
    }
}

/// One shape a point: circle, square, triangle up, diamond, triangle down, hollow circle.
fn mark(area: &Area<'_>, (x, y): (i32, i32), look: Look) -> Result<()> {
    let style = look.colour.filled();
    let polygon = |corners: &[(i32, i32)]| {
        let corners: Vec<(i32, i32)> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        area.draw(&Polygon::new(corners, style))
    };
    const R: i32 = MARK + 1;
    match look.mark {
        0 => area.draw(&Circle::new((x, y), MARK, style)),
        1 => polygon(&[(-MARK, -MARK), (MARK, -MARK), (MARK, MARK), (-MARK, MARK)]),
        2 => polygon(&[(0, -R), (R, MARK), (-R, MARK)]),
        3 => polygon(&[(0, -R - 1), (R + 1, 0), (0, R + 1), (-R - 1, 0)]),
        4 => polygon(&[(0, R), (R, -MARK), (-R, -MARK)]),
        _ => {
            // White below, so that the line does not run through it.
            area.draw(&Circle::new((x, y), MARK, WHITE.filled()))?;
            area.draw(&Circle::new((x, y), MARK, look.colour.stroke_width(WIDTH)))
        }
    }
}

fn write(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    size: i32,
    colour: RGBColor,
    bold: bool,
) -> Result<()> {
    let style = if bold {
        FontStyle::Bold
    } else {
        FontStyle::Normal
    };
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(size), style);
    let style = TextStyle::from(font)
        .color(&colour)
        .pos(Pos::new(HPos::Left, VPos::Top));
    area.draw_text(&readable(text, TEXT_MAX), &style, at)
}

/// One line of text that XML can hold, cut where it would leave the picture.
fn readable(text: &str, max: usize) -> String {
    let held = |c: char| match c {
        c if c.is_whitespace() => ' ',
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    };
    let mut out: String = text.chars().take(max).map(held).collect();
    if text.chars().nth(max).is_some() {
        out.push('…');
    }
    out
}
