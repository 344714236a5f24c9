import { expect, test } from "vitest";
import { createKeyedLimiter } from "./keyed-limiter.ts";

const settle = () => new Promise(setImmediate);

test("a limited number run concurrently, the others follow in order of arrival, and a failure passes its turn on", async () => {
	const inTurn = createKeyedLimiter({ atOnce: 2, waitMs: 10_000, upstream: "database" });
	const begun: number[] = [];
	const works = Array.from({ length: 5 }, () => Promise.withResolvers<number>());
	const answers = works.map(({ promise }, i) =>
		inTurn(`account ${i}`, () => {
			begun.push(i);
			return promise;
		}),
	);
	await settle();
	expect(begun).toEqual([0, 1]);
	works[1]?.reject(new Error("failed"));
	await expect(answers[1]).rejects.toThrow("failed");
	await settle();
	expect(begun).toEqual([0, 1, 2]);
	for (const [i, { resolve }] of works.entries()) resolve(i);
	expect(await Promise.all(answers.filter((_, i) => i !== 1))).toEqual([0, 2, 3, 4]);
	expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test("a caller who waits too long is refused without running, and later callers get their turn", async () => {
	const inTurn = createKeyedLimiter({ atOnce: 1, waitMs: 20, upstream: "database" });
	const slow = Promise.withResolvers<string>();
	const first = inTurn("first", () => slow.promise);
	const late = inTurn("late", () => Promise.reject(new Error("it was refused")));
	await expect(late).rejects.toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
		details: { upstream: "database" },
	});
	const next = inTurn("next", async () => "next");
	slow.resolve("slow");
	expect(await Promise.all([first, next])).toEqual(["slow", "next"]);
	expect(await inTurn("last", async () => "last")).toBe("last");
});

test("a caller with many requests delays only itself", async () => {
	const inTurn = createKeyedLimiter({ atOnce: 2, waitMs: 10_000, upstream: "database" });
	const slow = Promise.withResolvers<string>();
	const many = Array.from({ length: 5 }, () => inTurn("one", () => slow.promise));
	expect(await inTurn("other", async () => "served")).toBe("served");
	slow.resolve("done");
	expect(await Promise.all(many)).toEqual(Array(5).fill("done"));
});
