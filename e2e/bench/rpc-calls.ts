// Counts the service's calls to nodes: idle, and per swap, at several block times. Prints figures, sets no limit.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { parseUnits } from "viem";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { type OwnEnvironment, startEnvironment } from "../environment/environment.ts";

const usage = `Usage: node e2e/bench/rpc-calls.ts [--block-ms LIST] [--idle-seconds N] [--settle-seconds N] [--swaps N] [--json]

Starts a complete service for each block time, with counters in front of two EVM chains and a Solana, lets it rest, and then
makes swaps, one after the other. API, worker, audit and three attesters are counted. Chains have their default pollMs. The
chains are anvils and a model of Solana, whose slots take 200 ms whatever the block time of the others.

  --block-ms LIST     block times of the EVM chains in milliseconds (default 250,2000,12000)
  --idle-seconds N    how long to count without swaps (default 90)
  --settle-seconds N  how long to wait before that (default 60)
  --swaps N           how many swaps to make (default 3)
  --json              print rows as JSON

A swap's calls are all calls from its quote until its release is done, so they include what goes on without swaps. "in
flight" counts the calls of one more swap while others are under way, as if the chain were read anyway: the same swaps made
at once, divided by their number.`;

const { values } = parseArgs({
	options: {
		"block-ms": { type: "string", default: "250,2000,12000" },
		"idle-seconds": { type: "string", default: "90" },
		"settle-seconds": { type: "string", default: "60" },
		swaps: { type: "string", default: "3" },
		json: { type: "boolean" },
		help: { type: "boolean", short: "h" },
	},
});
if (values.help) {
	console.log(usage);
	process.exit(0);
}
const idleSeconds = Number(values["idle-seconds"]);
const settleSeconds = Number(values["settle-seconds"]);
const swaps = Number(values.swaps);
const ten = parseUnits("10", 6);
/** Deadlines that suit blocks of twelve seconds. */
const slow = { finalitySeconds: 100, openSeconds: 300, fillSeconds: 600, refundSeconds: 600 };

type Row = { blockMs: number; what: string; calls: number; byMethod: Record<string, number> };
const rows: Row[] = [];

for (const blockMs of values["block-ms"].split(",").map(Number)) {
	const environment = await startEnvironment({
		countCalls: true,
		rhythm: { blockMs },
		configure: ({ chains, solana, ...config }) => ({
			...config,
			chains: Object.fromEntries(
				Object.entries(chains).map(([id, chain]) => [id, { ...chain, ...slow, pollMs: undefined }]),
			),
			...(solana && { solana: { ...solana, pollMs: undefined } }),
			// The default, with which attesters are polled every 15 s.
			heartbeatSeconds: 600,
			logLevel: "warn",
			telemetry: {},
		}),
	});
	try {
		await measure(environment, blockMs);
	} finally {
		await environment.stop();
	}
}
if (values.json) console.log(JSON.stringify(rows, null, "\t"));

async function measure(environment: OwnEnvironment, blockMs: number): Promise<void> {
	const { origin, destination, solana, client } = environment;
	const database = await connectDatabase(environment.databaseUrl);
	const chains = { origin, destination, solana };
	await sleep(settleSeconds * 1_000);
	const before = await counts(chains);
	await sleep(idleSeconds * 1_000);
	const after = await counts(chains);
	for (const name of ["origin", "solana"] as const) {
		const used = difference(before[name], after[name]);
		tell(blockMs, `a day, idle, ${name === "origin" ? "EVM chain" : "Solana"}`, used, 86_400 / idleSeconds);
	}

	const one = async () => {
		const account = await environment.newWallet({ chain: origin, token: "USDC", amount: ten });
		const from = { chain: origin, token: "USDC", amount: ten };
		const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
		const { swap } = await doSwap({ client, pins: environment.deployment, account }, intent);
		if (swap.status !== "settled") throw new Error(`a swap ended as ${swap.status}`);
	};
	const released = async () => {
		while ((await database.query("select from jobs where state <> 'done'")).length > 0) await sleep(200);
	};
	const alone = await counts(chains);
	for (let i = 0; i < swaps; i++) {
		await one();
		await released();
	}
	tell(blockMs, "a swap, alone, both EVM chains", both(alone, await counts(chains)), 1 / swaps);
	const together = await counts(chains);
	await Promise.all(Array.from({ length: 10 }, one));
	await released();
	tell(
		blockMs,
		"a swap of ten concurrent ones, both EVM chains",
		both(together, await counts(chains)),
		1 / 10,
	);
	await database.end();

	async function counts(of: Record<"origin" | "destination" | "solana", { chainId: number }>) {
		const [atOrigin, atDestination, onSolana] = await Promise.all(
			[of.origin, of.destination, of.solana].map((chain) => environment.rpcCounts(chain)),
		);
		return { origin: atOrigin ?? {}, destination: atDestination ?? {}, solana: onSolana ?? {} };
	}
}

type Counts = Record<string, number>;

function difference(before: Counts, after: Counts): Counts {
	return Object.fromEntries(
		Object.entries(after)
			.map(([method, count]) => [method, count - (before[method] ?? 0)] as const)
			.filter(([, count]) => count > 0),
	);
}

function both(
	before: Record<"origin" | "destination", Counts>,
	after: Record<"origin" | "destination", Counts>,
): Counts {
	const sum: Counts = {};
	for (const name of ["origin", "destination"] as const) {
		for (const [method, count] of Object.entries(difference(before[name], after[name]))) {
			sum[method] = (sum[method] ?? 0) + count;
		}
	}
	return sum;
}

function tell(blockMs: number, what: string, used: Counts, factor: number): void {
	const byMethod = Object.fromEntries(
		Object.entries(used).map(([method, count]) => [method, Math.round(count * factor)]),
	);
	const calls = Math.round(Object.values(used).reduce((sum, count) => sum + count, 0) * factor);
	rows.push({ blockMs, what, calls, byMethod });
	if (!values.json) console.log(`${blockMs} ms blocks: ${calls} calls ${what}  ${JSON.stringify(byMethod)}`);
}
