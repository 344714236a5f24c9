import { pino } from "pino";
import { expect, test } from "vitest";
import type { EngineAdmin, Invocation } from "./durable/engine-admin.ts";
import { leaveDeployment } from "./leave-deployment.ts";
import { createLog } from "./log.ts";

const silent = createLog({ level: "silent", process: "test" });
const swap: Invocation = { id: "inv", service: "swap", key: "uuid.4" };

/** An engine that does not answer at first, with one swap on the deployment. */
function createScene({ failures = 0, newest = "next", log = silent, swaps = [swap] } = {}) {
	let asked = 0;
	let unfinished = swaps;
	const did: string[] = [];
	const answer = async <T>(give: () => T): Promise<T> => {
		if (asked++ < failures) throw new Error("connection refused");
		return give();
	};
	const admin: Parameters<typeof leaveDeployment>[0]["admin"] = {
		newestDeployment: () => answer(() => newest),
		unfinishedOn: () => answer(() => unfinished),
		kill: (id) =>
			answer(() => {
				did.push(`kill ${id}`);
				unfinished = [];
			}),
		removeDeployment: (id) => answer(() => void did.push(`remove ${id}`)),
	};
	const leave = (options: { patienceMs?: number; changes?: Partial<EngineAdmin> } = {}) =>
		leaveDeployment({
			admin: { ...admin, ...options.changes },
			engine: {
				startSwap: async (uuid, execution) => void did.push(`start ${uuid} ${execution}`),
				poke: () => Promise.reject(new Error("nothing is poked")),
			},
			deploymentId: "old",
			answerWithinMs: 2_000,
			patienceMs: options.patienceMs ?? 60_000,
			log,
		});
	return { did, leave };
}

test("an engine that does not answer at first is asked again, and then all is handed over", async () => {
	const { did, leave } = createScene({ failures: 2 });
	expect(await leave()).toBe("drained");
	expect(did).toEqual(["start uuid 5", "kill inv", "remove old"]);
});

test("a worker that cannot find out whether a newer version serves says that it left something", async () => {
	const { did, leave } = createScene({ failures: Number.POSITIVE_INFINITY });
	expect(await leave()).toBe("left");
	expect(did).toEqual([]);
});

test("the newest version leaves nothing to anybody", async () => {
	const { did, leave } = createScene({ newest: "old" });
	expect(await leave()).toBe("still-newest");
	expect(did).toEqual([]);
});

test("what is left when the patience is over is said, also where the engine no longer answers", async () => {
	const { did, leave } = createScene();
	expect(await leave({ patienceMs: 0 })).toBe("left");
	expect(
		await leave({ patienceMs: 0, changes: { unfinishedOn: () => Promise.reject(new Error("gone")) } }),
	).toBe("left");
	expect(did).toEqual([]);
});

test("of thousands that are left the first are named, and all are counted", async () => {
	const lines: { left?: object; first?: string[] }[] = [];
	const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
	const swaps = Array.from({ length: 3_000 }, (_, i) => ({ ...swap, key: `uuid-${i}` }));
	const { leave } = createScene({ log, swaps });
	expect(await leave({ patienceMs: 0 })).toBe("left");
	const line = lines.find(({ left }) => left);
	expect(line).toMatchObject({ left: { swap: 3_000 } });
	expect(line?.first).toHaveLength(20);
	expect(line?.first?.[0]).toBe("swap/uuid-0");
});

test("a successor that is gone in the middle of a drain is handed nothing more, and the deployment stays", async () => {
	const { did, leave } = createScene();
	let asked = 0;
	const newestDeployment = async () => (asked++ === 0 ? "next" : "old");
	expect(await leave({ changes: { newestDeployment } })).toBe("left");
	expect(did).toEqual([]);
});

test("a swap that cannot be handed over keeps none of the others back, and is tried again", async () => {
	const swaps = Array.from({ length: 45 }, (_, i) => ({ ...swap, id: `inv-${i}` }));
	const { leave } = createScene();
	const left = new Map(swaps.map((one) => [one.id, one]));
	let rounds = 0;
	let leftAfterFirst: string[] = [];
	const unfinishedOn = async () => {
		if (++rounds === 2) leftAfterFirst = [...left.keys()];
		return [...left.values()];
	};
	const kill = async (id: string) => {
		if (id === "inv-0" && rounds === 1) throw new Error("a timeout");
		left.delete(id);
	};
	expect(await leave({ changes: { unfinishedOn, kill } })).toBe("drained");
	expect(leftAfterFirst).toEqual(["inv-0"]);
});
