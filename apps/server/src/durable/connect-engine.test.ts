import { expect, test } from "vitest";
import { coalesce } from "./connect-engine.ts";
import type { PokeTarget } from "./engine.ts";

const round: PokeTarget = { object: "round", key: "0" };

function scene() {
	const sent: { name: string; answer: PromiseWithResolvers<void> }[] = [];
	const poke = coalesce(({ object, key }) => {
		const answer = Promise.withResolvers<void>();
		sent.push({ name: `${object}/${key}`, answer });
		return answer.promise;
	});
	return { sent, poke };
}

test("all pokes made while one is in flight become a single poke after it", async () => {
	const { sent, poke } = scene();
	const pokes = [poke(round), poke(round), poke(round), poke({ object: "round", key: "1" })];
	expect(sent.map(({ name }) => name)).toEqual(["round/0", "round/1"]);
	for (const { answer } of sent) answer.resolve();
	await pokes[0];
	await expect.poll(() => sent.length).toBe(3);
	expect(sent[2]?.name).toBe("round/0");
	sent[2]?.answer.resolve();
	await Promise.all(pokes);
	void poke(round);
	expect(sent).toHaveLength(4);
});

test("a failed poke rejects for its callers, and the poke after it is still sent", async () => {
	const { sent, poke } = scene();
	const first = poke(round);
	const second = poke(round);
	sent[0]?.answer.reject(new Error("no engine"));
	await expect(first).rejects.toThrow("no engine");
	await expect.poll(() => sent.length).toBe(2);
	sent[1]?.answer.resolve();
	await second;
});

test("a poke with a delay or a dedupe key is never merged with others", () => {
	const { sent, poke } = scene();
	void poke(round);
	void poke(round, { delayMs: 50 });
	void poke(round, { dedupeKey: "window 7" });
	expect(sent).toHaveLength(3);
});
