/**
 * Returns a text from elsewhere in a form that is safe on a terminal. It cannot move the cursor, change colours, begin
 * a line, or reverse the reading direction. Line breaks and tabs become spaces; any other such character is shown as
 * its code.
 */
export function printable(text: unknown): string {
	return String(text)
		.replace(/[\t\n\v\f\r\u0085\p{Zl}\p{Zp}]/gu, " ")
		.replace(invisible, escaped);
}

/** Returns the same JSON document without such characters. A reader of the JSON gets exactly the same strings. */
export function printableJson(json: string): string {
	return json.replace(invisible, (character) => (character === "\n" ? character : escaped(character)));
}

const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
	const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
	return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
