import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { ConfigError } from "../../config/config-error.ts";
import { formatJournalLine, type JournalLine, parseJournalLine } from "./journal.ts";

/** Creates a journal's file. Throws if it exists, since a day is never overwritten. */
export function createJournalFile(path: string): { write: (line: JournalLine) => void; close: () => void } {
	let file: number;
	try {
		file = openSync(path, "wx");
	} catch (error) {
		const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
		throw new ConfigError(path, isThere ? "exists already: name another journal" : (error as Error).message);
	}
	return {
		write: (line) => {
			writeSync(file, `${formatJournalLine(line)}\n`);
		},
		close: () => closeSync(file),
	};
}

/** Reads a journal. Omits a last line that a crash cut off. Throws with the number of an invalid line. */
export async function readJournal(path: string): Promise<JournalLine[]> {
	const lines: JournalLine[] = [];
	const input = createReadStream(path, "utf8");
	let broken: number | undefined;
	let number = 0;
	try {
		for await (const text of createInterface({ input })) {
			number += 1;
			if (broken !== undefined) throw new ConfigError(path, `line ${broken} is not a line of a journal`);
			try {
				lines.push(parseJournalLine(text));
			} catch {
				broken = number;
			}
		}
	} catch (error) {
		if (error instanceof ConfigError) throw error;
		throw new ConfigError(path, (error as Error).message);
	}
	if (lines[0]?.kind !== "start") throw new ConfigError(path, "is not the journal of a shadow day");
	return lines;
}
