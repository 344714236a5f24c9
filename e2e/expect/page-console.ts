import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExpectStatic } from "vitest";
import { runShell } from "../environment/run-shell.ts";

const docs = join(import.meta.dirname, "../../docs");
const blocks = /(?<=^```console\n)[\s\S]*?(?=^```$)/gm;

/** A shell whose commands and their output must be those of a section of a page. */
export type PageConsole = {
	/** Runs a command as an operator types it. Throws if it exits with another code. */
	run: (command: string, options?: { exitCode?: number }) => Promise<void>;
	/**
	 * Expects the section to have exactly these commands in this order, with the same output but for what differs in each
	 * run. With GEOSWAP_RECORD it writes them into the section's blocks instead, each of which keeps its number of commands.
	 */
	expectSame: (expect: ExpectStatic) => void;
};

/** Opens a shell for the commands of one section of a page in docs, which is between its heading and the next one. */
export function openPageConsole({
	page,
	heading,
	env,
}: {
	page: string;
	heading: string;
	env: Record<string, string>;
}): PageConsole {
	const file = join(docs, page);
	const printed: string[] = [];
	return {
		run: async (command, options) => {
			printed.push(`$ ${command}\n${await runShell(command, { env, ...options })}`);
		},
		expectSame: (expect) => {
			const text = readFileSync(file, "utf8");
			const start = text.indexOf(`\n${heading}\n`);
			if (start < 0) throw new Error(`${page} has no heading ${heading}`);
			const next = text.indexOf("\n## ", start + 1);
			const end = next < 0 ? text.length : next;
			const section = text.slice(start, end);
			const written = [...section.matchAll(blocks)].flatMap(([block]) => commandsIn(block));
			if (process.env.GEOSWAP_RECORD) {
				expect(written, "the section needs a line with `$ ` for each command").toHaveLength(printed.length);
				const recorded = section.replaceAll(blocks, (block) =>
					printed.splice(0, commandsIn(block).length).join(""),
				);
				writeFileSync(file, text.slice(0, start) + recorded + text.slice(end));
				return;
			}
			expect(written.map(withoutVariables), "GEOSWAP_RECORD=1 writes the page again").toEqual(
				printed.map(withoutVariables),
			);
		},
	};
}

/** Returns the commands of a block, each with its output. */
function commandsIn(block: string): string[] {
	return block.split(/^(?=\$ )/m);
}

/**
 * Replaces what differs in each run: times, ids, hashes, blocks, ages, columns, how many swaps there were, and amounts that
 * have a fraction or groups of digits.
 */
function withoutVariables(text: string): string {
	return text
		.replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, "<time>")
		.replaceAll(/\d{4}-\d{2}-\d{2}/g, "<day>")
		.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
		.replaceAll(/\b0x[0-9a-f]{64}\b/g, "<hash>")
		.replaceAll(/\bblock \d+/g, "block <number>")
		.replaceAll(/[\d.]+ (s|min) old/g, "<age> old")
		.replaceAll(/[+-]?(\d+\.\d+|\d{1,3}(,\d{3})+(\.\d+)?)/g, "<amount>")
		.replaceAll(/\d+(?= (swaps|orders)\b)|(?<=→ \w+ +)\d+/g, "<count>")
		.replaceAll(/ {2,}/g, "  ");
}
