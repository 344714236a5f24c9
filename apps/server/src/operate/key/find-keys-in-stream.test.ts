import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createApiKey } from "../../api/key/api-key.ts";
import { findKeysInStream } from "./keys-scan-command.ts";

async function* inPieces(text: string, size: number) {
	for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
}

test("each key is found once with its line, regardless of how the text is split into chunks", async () => {
	const filler = fc.stringMatching(/^[ .\n\r"=-]{0,90}$/);
	await fc.assert(
		fc.asyncProperty(fc.array(filler), fc.integer({ min: 1, max: 200 }), async (fillers, size) => {
			let text = "";
			const expected = fillers.map((filler) => {
				const { id, key } = createApiKey({ pepper: "pepper", random: randomBytes });
				text += filler;
				const line = text.split("\n").length;
				text += key;
				return { id, key, line, isRightChecksum: true };
			});
			expect(await findKeysInStream(inPieces(`${text}\n`, size))).toEqual(expected);
		}),
	);
});
