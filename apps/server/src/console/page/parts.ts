import type { SwapStatus } from "@geoswap/protocol";
import { type Content, html } from "../../api/page/html.ts";

export type Tone = "good" | "warn" | "bad" | "quiet" | "busy";

/** A word in a coloured frame. The word alone carries all the information. */
export function pill(text: string, tone: Tone): Content {
	return html`<span class=${`pill ${tone}`}>${text}</span>`;
}

const toneOfStatus: Record<SwapStatus, Tone> = {
	pending: "busy",
	settled: "good",
	refunded: "warn",
	failed: "quiet",
};

export function statusPill(status: SwapStatus): Content {
	return pill(status, toneOfStatus[status]);
}

/** A short column is never wrapped. */
export type Column = { title: string; isNumber?: boolean; isShort?: boolean };

/**
 * A table that becomes a list of cards on a phone, where each cell has its column's title. `label` describes it for
 * screen readers.
 */
export function table({
	label,
	columns,
	rows,
	none,
}: {
	label: string;
	columns: readonly Column[];
	rows: readonly (readonly Content[])[];
	/** The text in place of an empty table. */
	none: string;
}): Content {
	if (rows.length === 0) return html`<p class="none">${none}</p>`;
	const classOf = (column: Column | undefined) =>
		column?.isNumber ? "number" : column?.isShort ? "route" : undefined;
	return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table>
		<thead><tr>${columns.map((column) => html`<th scope="col" class=${classOf(column)}>${column.title}</th>`)}</tr></thead>
		<tbody>${rows.map(
			(cells) =>
				html`<tr>${cells.map(
					(cell, i) =>
						html`<td class=${classOf(columns[i])} data-title=${columns[i]?.title}><span>${cell}</span></td>`,
				)}</tr>`,
		)}</tbody>
	</table></div>`;
}

/** A part of a page with a heading. A live one is replaced every few seconds. */
export function section(
	{ id, title, note, isLive = false }: { id: string; title: string; note?: Content; isLive?: boolean },
	...content: Content[]
): Content {
	return html`<section id=${id} data-live=${isLive} aria-labelledby=${`${id}-title`}>
		<h2 id=${`${id}-title`}>${title}${note ? html` <small>${note}</small>` : ""}</h2>
		${content}
	</section>`;
}

/** A figure with its name and a note. */
export function tile({
	title,
	value,
	note,
	tone,
}: {
	title: string;
	value: Content;
	note?: Content;
	tone?: Tone;
}): Content {
	return html`<div class=${`tile ${tone ?? ""}`}><dt>${title}</dt><dd>${value}</dd>${
		note ? html`<dd class="note">${note}</dd>` : ""
	}</div>`;
}

/** Shows how much of a whole is used, as a bar of at most 100 %. */
export function bar(share: number, label: string): Content {
	const width = Math.round(Math.min(1, Math.max(0, share)) * 100);
	const tone = share >= 0.95 ? "bad" : share >= 0.8 ? "warn" : "good";
	return html`<svg class=${`bar ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=${label}>
		<rect class="whole" width="100" height="6" rx="2" /><rect class="used" width=${width} height="6" rx="2" />
	</svg>`;
}

/** Terms and their values. */
export function facts(rows: readonly (readonly [string, Content] | false)[]): Content {
	const shown = rows.filter((row) => row !== false);
	return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
