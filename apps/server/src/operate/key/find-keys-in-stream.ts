import { apiKeyLength, type FoundKey, findApiKeysIn } from "../../api/key/api-key.ts";

export type LocatedKey = Omit<FoundKey, "offset"> & { line: number };

/** Finds everything that looks like a key, with its line. Only one piece of the text is in memory at a time. */
export async function findKeysInStream(stream: AsyncIterable<string>): Promise<LocatedKey[]> {
	const found: LocatedKey[] = [];
	let line = 1;
	let rest = "";
	for await (const chunk of stream) {
		const text = rest + chunk;
		let counted = 0;
		const countTo = (offset: number) => {
			line += text.slice(counted, offset).split("\n").length - 1;
			counted = offset;
		};
		for (const { offset, ...key } of findApiKeysIn(text)) {
			countTo(offset);
			found.push({ ...key, line });
		}
		// A key may begin in one piece and end in the next. A whole key is longer than the kept text.
		const kept = Math.max(counted, text.length - apiKeyLength + 1);
		countTo(kept);
		rest = text.slice(kept);
	}
	return found;
}
