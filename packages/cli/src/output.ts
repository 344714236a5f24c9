import { styleText } from "node:util";
import type { Io, Sink } from "./io.ts";
import { printable, printableJson } from "./printable.ts";

type Style = Parameters<typeof styleText>[0];
/** A line, a label before a text, or a label before a command to paste. */
export type Line = string | [label: string, text: string] | { label: string; command: string };

/** The program's output: progress as it happens, and the result once. */
export type Output = {
	isJson: boolean;
	/** Writes progress to stderr, for users. */
	say: (line: Line, style?: Style) => void;
	/** Writes to stdout: the document with --json, otherwise the lines. */
	result: (document: object, lines: Line[]) => Promise<void>;
};

const labelWidth = 11;
/** The minimum width to wrap lines to. A narrower terminal breaks them itself. */
const minColumns = 40;

export function createOutput(
	{ env, stdout, stderr }: Pick<Io, "env" | "stdout" | "stderr">,
	isJson: boolean,
): Output {
	const hasColour = stderr.isTerminal && !env.NO_COLOR && env.TERM !== "dumb";
	return {
		isJson,
		say: (line, style) => {
			const text = render(line, stderr);
			const styled = style && hasColour ? styleText(style, text, { validateStream: false }) : text;
			void stderr.write(`${styled}\n`);
		},
		result: (document, lines) =>
			stdout.write(
				isJson ? `${toJson(document)}\n` : lines.map((line) => `${render(line, stdout)}\n`).join(""),
			),
	};
}

function toJson(document: object): string {
	const replace = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
	return printableJson(JSON.stringify(document, replace, 2));
}

/** Returns the line, wrapped into several if it does not fit the terminal. */
function render(line: Line, { columns }: Sink): string {
	// A command is not wrapped, because each part would be a separate command when it is pasted.
	if (typeof line === "object" && "command" in line) {
		return `${printable(line.label).padEnd(labelWidth - 1)} ${printable(line.command)}`;
	}
	const width = Math.max(minColumns, columns() ?? Number.POSITIVE_INFINITY);
	if (typeof line === "string") return wrap(printable(line), { width, indent: 0 });
	// A long label is separated from the text by a space.
	const label = `${printable(line[0])} `.padEnd(labelWidth);
	return wrap(`${label}${printable(line[1])}`, { width, indent: labelWidth });
}

function wrap(text: string, { width, indent }: { width: number; indent: number }): string {
	const lines: string[] = [];
	let rest = text;
	while (rest.length > width) {
		// Lines break at a space after the label. A text without a space, such as a long hash, is cut.
		const space = rest.lastIndexOf(" ", width);
		const end = space > indent ? space : width;
		lines.push(rest.slice(0, end).trimEnd());
		rest = " ".repeat(indent) + rest.slice(end).trimStart();
	}
	return [...lines, rest].join("\n");
}
