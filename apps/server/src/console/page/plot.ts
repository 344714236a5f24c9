import { type Content, html } from "../../api/page/html.ts";

/** A line or a row of bars. Null is a gap. */
type Series = { name: string; tone: string; values: readonly (number | null)[] };

const width = 600;
const height = 150;
const top = 10;
const bottom = 20;
const left = 44;

/** Returns the smallest of 1, 2, 5, 10, 20, … that is not below the value. */
function roundUp(value: number): number {
	const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
	return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/**
 * Draws series over one day as SVG, on the server, so that the page needs no script. Bars are stacked, lines are not.
 * Each step has a title that a pointer shows. `summary` describes the same in words.
 */
export function plot({
	kind,
	times,
	series,
	format,
	summary,
}: {
	kind: "bars" | "lines";
	times: readonly Date[];
	series: readonly Series[];
	format: (value: number) => string;
	summary: string;
}): Content {
	const totals = times.map((_, i) => {
		const values = series.map(({ values }) => values[i] ?? 0);
		return kind === "bars" ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
	});
	const most = roundUp(Math.max(1e-9, ...totals));
	const step = (width - left) / Math.max(1, times.length);
	const x = (i: number) => left + i * step;
	const y = (value: number) => top + (height - top - bottom) * (1 - value / most);
	const ticks = [0, most / 2, most];
	return html`<figure class="plot">
		<svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${summary}>
			${ticks.map(
				(tick) => html`<g><line class="grid" x1=${left} x2=${width} y1=${y(tick)} y2=${y(tick)} />
					<text class="tick" x=${left - 6} y=${y(tick) + 3.5} text-anchor="end">${format(tick)}</text></g>`,
			)}
			${times.map((time, i) =>
				time.getUTCHours() % 6 === 0 && time.getUTCMinutes() === 0
					? html`<text class="tick" x=${x(i)} y=${height - 5} text-anchor="middle">${time.toISOString().slice(11, 16)}</text>`
					: null,
			)}
			${kind === "bars" ? bars() : series.map(line)}
			${times.map(
				(time, i) => html`<rect class="hit" x=${x(i)} y=${top} width=${step} height=${height - top - bottom}>
					<title>${titleOf(time, i)}</title></rect>`,
			)}
		</svg>
		<figcaption>${series.map(({ name, tone }) => html`<span class=${`key ${tone}`}>${name}</span>`)}</figcaption>
	</figure>`;

	function bars(): Content {
		return times.map((_, i) => {
			let below = 0;
			return series.map(({ tone, values }) => {
				const value = values[i] ?? 0;
				if (value === 0) return null;
				below += value;
				const tall = y(below - value) - y(below);
				return html`<rect class=${tone} x=${(x(i) + 1).toFixed(1)} y=${y(below).toFixed(1)} width=${(step - 2).toFixed(1)}
					height=${tall.toFixed(1)} />`;
			});
		});
	}

	function line({ tone, values }: Series): Content {
		let isDown = false;
		const path = values.map((value, i) => {
			if (value === null) {
				isDown = false;
				return "";
			}
			const move = isDown ? "L" : "M";
			isDown = true;
			return `${move}${(x(i) + step / 2).toFixed(1)} ${y(value).toFixed(1)}`;
		});
		return html`<path class=${`line ${tone}`} d=${path.join("")} />`;
	}

	function titleOf(time: Date, i: number): string {
		const values = series.map(({ name, values }) => {
			const value = values[i];
			return `${name} ${value === null || value === undefined ? "none" : format(value)}`;
		});
		return `${time.toISOString().slice(11, 16)} UTC: ${values.join(", ")}`;
	}
}
