import { escapeHtml } from "./escape-html.ts";

/** Longer texts are bytes, which need not be shown completely. */
const longestText = 80;
const shownText = 64;

/** Returns a value as a block of code, with long texts shortened. */
export function jsonCode(value: unknown): string {
	return codeBlock(colorJson(readableJson(value)));
}

/** Returns JSON for human readers, with long texts cut. */
function readableJson(value: unknown): string {
	return JSON.stringify(
		value,
		(_, part: unknown) =>
			typeof part === "string" && part.length > longestText ? `${part.slice(0, shownText)}…` : part,
		2,
	);
}

/** Returns a block of code that can also be scrolled with the keyboard. */
export function codeBlock(html: string): string {
	return `<pre tabindex="0"><code>${html}</code></pre>`;
}

/** Colors names, texts and other values differently. */
export function colorJson(text: string): string {
	return escapeHtml(text).replace(
		/(&quot;(?:(?!&quot;)[^\n])*?&quot;)(\s*:)?|(?<![\w.])(true|false|null|-?\d+(?:\.\d+)?)\b/g,
		(whole, string: string | undefined, colon: string | undefined) => {
			if (string === undefined) return `<b class="v">${whole}</b>`;
			return colon === undefined ? `<b class="s">${string}</b>` : `<b class="k">${string}</b>${colon}`;
		},
	);
}
