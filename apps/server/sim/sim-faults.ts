import type { ChainName, Fault, Plan, WorkerName } from "./plan.ts";
import type { World } from "./world.ts";

/** Schedules each fault of a plan. Returns a count of those that happened, by kind. */
export function scheduleFaults(world: World, plan: Plan, startsInMs: number): Record<string, number> {
	const { scheduler, troubles, random, chains, tell } = world;
	const applied: Record<string, number> = {};
	const dice = random.fork("faults");
	/** Lasting faults that are in force now. */
	const lasting = new Set<Fault>();
	/** Number of statements that a worker has left until the one whose answer is lost. */
	const answersLost = new Map<string, number>();

	troubles.rpc = (chain, of, provider) => {
		for (const fault of lasting) {
			if (fault.kind !== "rpc" || fault.chain !== chain || fault.of !== of) continue;
			if (fault.provider === provider) return fault.how;
		}
		return undefined;
	};
	troubles.database = (worker) => {
		for (const fault of lasting) {
			if (fault.kind === "database" && fault.how === "down" && fault.process === worker) return "lost";
		}
		const left = answersLost.get(worker);
		if (left === undefined) return undefined;
		if (left > 1) answersLost.set(worker, left - 1);
		else answersLost.delete(worker);
		return left > 1 ? undefined : "answer-lost";
	};
	troubles.pokes = () => {
		for (const fault of lasting) {
			if (fault.kind === "pokes" && dice.chance(fault.percent / 100)) return fault.how;
		}
		return undefined;
	};
	troubles.isEngineDown = () => [...lasting].some(({ kind }) => kind === "engine");
	troubles.attester = (name) => {
		for (const fault of lasting) if (fault.kind === "attester" && fault.process === name) return fault.how;
		return undefined;
	};
	const heldBack = new Map<string, boolean>();
	troubles.holdBack = (chain, hash) => {
		for (const fault of lasting) {
			if (fault.kind !== "hold-back" || fault.chain !== chain) continue;
			const key = `${fault.atMs} ${hash}`;
			const isHeld = heldBack.get(key) ?? dice.chance(fault.percent / 100);
			heldBack.set(key, isHeld);
			if (isHeld) return true;
		}
		return false;
	};

	for (const fault of plan.faults) {
		if (fault.kind === "restore") {
			scheduler.in(startsInMs + Math.max(0, fault.atMs - fault.backMs), "backup", () =>
				world.database.backUp(),
			);
		}
		scheduler.in(startsInMs + fault.atMs, `! ${describe(fault)}`, () => {
			applied[fault.kind] = (applied[fault.kind] ?? 0) + 1;
			tell("!", describe(fault));
			return befall(fault);
		});
	}

	async function befall(fault: Fault): Promise<unknown> {
		if ("forMs" in fault) {
			lasting.add(fault);
			scheduler.in(fault.forMs, `! over: ${describe(fault)}`, () => {
				lasting.delete(fault);
				setLasting();
			});
			setLasting();
			return;
		}
		switch (fault.kind) {
			case "crash":
				return crash(fault);
			case "reorg":
				await chains[fault.chain].reorg({
					depth: fault.depth,
					keep: () => dice.chance(fault.keepPercent / 100),
				});
				world.noteReorg();
				return;
			case "drop":
				return chains[fault.chain].drop(() => dice.chance(fault.percent / 100));
			case "database":
				if (fault.how === "answer-lost") answersLost.set(fault.process, fault.statements);
				return;
			case "foreign-transaction":
				return sendForeign(fault.chain, fault.how);
			case "restore":
				return restore();
		}
	}

	/** Applies the lasting faults that are in force to the world. */
	function setLasting(): void {
		const all = [...lasting];
		const on = <K extends Fault["kind"]>(kind: K) =>
			all.filter((fault): fault is Extract<Fault, { kind: K }> => fault.kind === kind);
		for (const name of Object.keys(chains) as ChainName[]) {
			chains[name].stallFinality(on("finality-stall").some(({ chain }) => chain === name));
			const spikes = on("gas-spike").filter(({ chain }) => chain === name);
			chains[name].setGasPrice(Math.max(1, ...spikes.map(({ multiple }) => multiple)));
		}
		troubles.skewMs.clear();
		for (const { process, byMs } of on("clock-skew")) troubles.skewMs.set(process, byMs);
		troubles.priceOffBps = on("price").at(-1)?.bps ?? 0;
	}

	function crash({ process: name, at, downMs }: Extract<Fault, { kind: "crash" }>): void {
		const process = world.workers.get(name);
		if (!process?.isAlive()) return;
		process.onDeath(() => {
			tell(name, "! dies");
			// Clears a death at a broadcast that is still due, regardless of the cause of this one. Otherwise the process that
			// replaces it could die of it, and would not be restarted.
			troubles.dieAtBroadcast.delete(name);
			scheduler.in(downMs, `${name} comes back`, () => comeBack(name));
		});
		if (at === "broadcast") troubles.dieAtBroadcast.add(name);
		else process.dieAt(at.events);
		// A worker that had nothing to do by then survives.
		const leftMs = plan.hostileMs - (scheduler.nowMs() - world.startMs - startsInMs);
		scheduler.in(Math.max(0, leftMs), `${name} is safe`, () => {
			troubles.dieAtBroadcast.delete(name);
			process.dieAt(Number.POSITIVE_INFINITY);
		});
	}

	function comeBack(name: WorkerName): void {
		if (!world.workers.get(name)?.isAlive()) world.startWorker(name);
	}

	async function restore(): Promise<void> {
		for (const process of world.workers.values()) process.die();
		await world.database.restore();
		world.noteRestore();
		world.engine.wipe();
		world.wallets.comeBack();
		for (const name of world.workers.keys()) scheduler.in(500, `${name} comes back`, () => comeBack(name));
	}

	async function sendForeign(name: "east" | "west", how: "replaces" | "next"): Promise<void> {
		const chain = world.evm[name];
		const account = dice.pick(world.relayers[name]);
		const latest = Number(chain.request("eth_getTransactionCount", [account.address, "latest"]));
		const pending = Number(chain.request("eth_getTransactionCount", [account.address, "pending"]));
		if (how === "replaces" && pending === latest) return;
		const raw = await account.signTransaction({
			type: "eip1559",
			chainId: chain.chainId,
			nonce: how === "replaces" ? latest : pending,
			to: account.address,
			gas: 21_000n,
			maxFeePerGas: 10n ** 12n,
			maxPriorityFeePerGas: 10n ** 11n,
		});
		try {
			chain.request("eth_sendRawTransaction", [raw]);
			world.record.foreignOn.add(chain.chainId);
		} catch (error) {
			tell("!", `the foreign transaction is refused: ${(error as Error).message}`);
		}
	}

	return applied;
}

function describe({ kind, atMs: _, ...rest }: Fault): string {
	return [
		kind,
		...Object.values(rest).map((value) => (typeof value === "object" ? JSON.stringify(value) : value)),
	].join(" ");
}
