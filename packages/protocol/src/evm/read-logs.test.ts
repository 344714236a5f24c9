import fc from "fast-check";
import { type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { type LogPart, moneyEventTopics, readLogs } from "./read-logs.ts";

type Log = { block: number; topic: Hex; subject: Hex };

/** A node that refuses to return more logs than its cap, as providers do. */
function cappedNode(logs: readonly Log[], cap: number) {
	const requests: LogPart[] = [];
	const read = async (part: LogPart): Promise<Log[]> => {
		requests.push(part);
		const found = logs.filter(
			({ block, topic, subject }) =>
				block >= part.fromBlock &&
				block <= part.toBlock &&
				part.topics.includes(topic) &&
				(!part.subjects || part.subjects.includes(subject)),
		);
		if (found.length > cap) throw new Error(`query returned more than ${cap} results`);
		return found;
	};
	return { read, requests };
}

const topics = Object.values(moneyEventTopics());
const subjectAt = (number: number) => numberToHex(number, { size: 32 });
const logArbitrary = fc.record({
	block: fc.integer({ min: 1, max: 40 }),
	topic: fc.constantFrom(...topics),
	subject: fc.integer({ min: 0, max: 30 }).map(subjectAt),
});
const keyOf = (log: Log) => JSON.stringify(log);

test("no event that a stranger can emit repeatedly for little gas is read", () => {
	expect(Object.keys(moneyEventTopics())).not.toContain("Skipped");
	expect(new Set(topics).size).toBe(12);
});

test("every log of a known subject is read regardless of a node's cap, and so are all logs if the result is marked as complete", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.uniqueArray(logArbitrary, { selector: keyOf, maxLength: 200 }),
			fc.integer({ min: 1, max: 20 }),
			fc.uniqueArray(fc.integer({ min: 0, max: 30 }).map(subjectAt), { maxLength: 10 }),
			async (logs, cap, known) => {
				const node = cappedNode(logs, cap);
				const { logs: found, isComplete } = await readLogs(
					{ fromBlock: 1, toBlock: 40, topics },
					{ read: node.read, subjectsOf: async () => known },
				);
				const keys = found.map(keyOf);
				expect(new Set(keys).size).toBe(keys.length);
				const wanted = isComplete ? logs : logs.filter(({ subject }) => known.includes(subject));
				expect(keys).toEqual(expect.arrayContaining(wanted.map(keyOf)));
			},
		),
	);
});

test("no request names more subjects than a node accepts, regardless of how many are known", async () => {
	const logs = [1, 4_999].map((i) => ({ block: 5, topic: topics[0] as Hex, subject: subjectAt(i) }));
	const { read, requests } = cappedNode([...logs, { ...(logs[0] as Log), subject: subjectAt(9_999) }], 2);
	const known = Array.from({ length: 5_000 }, (_, i) => subjectAt(i));
	const part = { fromBlock: 5, toBlock: 5, topics: topics.slice(0, 1) };
	const found = await readLogs(part, { read, subjectsOf: async () => known });
	expect(found.logs).toEqual(logs);
	expect(Math.max(...requests.map(({ subjects = [] }) => subjects.length))).toBe(500);
});

test("a block of which a node returns nothing ends with the node's error after a bounded number of requests", async () => {
	const node = cappedNode([], 0);
	const read = (part: LogPart) => node.read(part).then(() => Promise.reject(new Error("no")));
	const known = Array.from({ length: 1_000 }, (_, i) => subjectAt(i));
	const reading = readLogs({ fromBlock: 7, toBlock: 7, topics }, { read, subjectsOf: async () => known });
	await expect(reading).rejects.toThrow("no");
	expect(node.requests.length).toBeLessThan(20);
});

test("without known subjects, a block with too many logs of one event is an error and not an empty answer", async () => {
	const logs = [1, 2, 3].map((i) => ({ block: 5, topic: topics[0] as Hex, subject: subjectAt(i) }));
	const { read } = cappedNode(logs, 2);
	await expect(readLogs({ fromBlock: 1, toBlock: 9, topics }, { read })).rejects.toThrow(
		"more than 2 results",
	);
});
