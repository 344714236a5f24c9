import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { check, ok } from "./finding.ts";

test("at most four checks run at once, all of them run, and one that throws makes room like the others", async () => {
	let running = 0;
	let most = 0;
	const findings = await Promise.all(
		Array.from({ length: 11 }, (_, i) =>
			check(`part ${i}`, async () => {
				most = Math.max(most, ++running);
				await turn();
				running--;
				if (i % 3 === 0) throw new Error("no answer");
				return ok("answers");
			}),
		),
	);
	expect(most).toBe(4);
	expect(findings.flat().map(({ result }) => result)).toEqual(
		Array.from({ length: 11 }, (_, i) => (i % 3 === 0 ? "fail" : "ok")),
	);
});
