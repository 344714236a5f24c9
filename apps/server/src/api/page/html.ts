import htm from "htm";

/** Text that is already HTML. Only `html` creates it, from escaped parts. */
class Markup {
	readonly text: string;
	constructor(text: string) {
		this.text = text;
	}
}

/** Anything that can stand between tags. Texts are escaped. Null, undefined and false are left out. */
export type Content = Markup | string | number | bigint | null | undefined | false | readonly Content[];

/** Elements that have no end tag. */
const empty = new Set(["br", "hr", "input", "link", "meta"]);

/** Makes HTML from a template. Every value in it is escaped, in texts and in attributes. */
export const html = (htm as unknown as Htm).bind(element);

/** The library's own types describe a CommonJS module, which it is not here. */
type Htm = {
	bind: (make: typeof element) => (strings: TemplateStringsArray, ...values: unknown[]) => Content;
};

function element(tag: string, attributes: Record<string, unknown> | null, ...children: Content[]): Markup {
	const listed = Object.entries(attributes ?? {}).map(([name, value]) => attribute(name, value));
	const start = `<${tag}${listed.join("")}>`;
	return new Markup(empty.has(tag) ? start : `${start}${render(children)}</${tag}>`);
}

function attribute(name: string, value: unknown): string {
	if (value === undefined || value === null || value === false) return "";
	return value === true ? ` ${name}` : ` ${name}="${escaped(String(value))}"`;
}

/** Returns the HTML of any content. */
export function render(content: Content): string {
	if (content === null || content === undefined || content === false) return "";
	if (content instanceof Markup) return content.text;
	if (typeof content === "object") return content.map(render).join("");
	return escaped(String(content));
}

const entities: Record<string, string> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

function escaped(text: string): string {
	return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
