/**
 * A swap service that does only the unavoidable. It recovers one signature, writes one row and reads it, calls the
 * engine once, and sends the same number of transactions of the same size in bundles as large, to the same depth. It
 * decides nothing and keeps no state that it could lose. Its environment has all addresses.
 */
import { createServer } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { type Context, createEndpointHandler, service } from "@restatedev/restate-sdk";
import { fastify } from "fastify";
import pg from "pg";
import { createPublicClient, type Hash, type Hex, http, parseGwei, recoverMessageAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";

type Kind = "open" | "fill" | "release";
type Settings = {
	depthBlocks: number;
	/** Jobs per transaction, and bytes per job. */
	bundles: Record<Kind, { jobs: number; bytesPerJob: number }>;
};
type Environment = {
	port: number;
	enginePort: number;
	databaseUrl: string;
	ingressUrl: string;
	/** Key of an account that has gas on both chains. */
	relayerKey: Hex;
	/** Origin and destination. */
	chains: { chainId: number; rpcUrl: string }[];
};

/** Milliseconds that jobs wait for others to share their bundle. */
const gatherMs = 200;
const pollMs = 100;
const attesterCount = 3;

const environment: Environment = JSON.parse(process.env.BARE_SWAP ?? "{}");
const account = privateKeyToAccount(environment.relayerKey);
const pool = new pg.Pool({ connectionString: environment.databaseUrl, max: 10 });
await pool.query(
	"create unlogged table if not exists bare_swaps (id serial primary key, state text, body jsonb)",
);
let settings: Settings = {
	depthBlocks: 0,
	bundles: {
		open: { jobs: 1, bytesPerJob: 0 },
		fill: { jobs: 1, bytesPerJob: 0 },
		release: { jobs: 1, bytesPerJob: 0 },
	},
};

type Chain = { send: (kind: Kind) => Promise<void> };
const [origin, destination] = await Promise.all(environment.chains.map(startChain));

/** Sends jobs of one kind together, and resolves each when its transaction is deep enough. */
async function startChain({ chainId, rpcUrl }: Environment["chains"][number]): Promise<Chain> {
	const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
	const sent = new Map<Hash, () => void>();
	const included: { block: bigint; done: () => void }[] = [];
	const queues: Record<Kind, (() => void)[]> = { open: [], fill: [], release: [] };
	let nonce = await client.getTransactionCount({ address: account.address });
	void follow();
	return {
		send: (kind) =>
			new Promise((resolve) => {
				const queue = queues[kind];
				queue.push(resolve);
				if (queue.length >= settings.bundles[kind].jobs) void flush(kind);
				else if (queue.length === 1) setTimeout(() => void flush(kind), gatherMs);
			}),
	};

	async function flush(kind: Kind): Promise<void> {
		const { jobs, bytesPerJob } = settings.bundles[kind];
		const waiting = queues[kind].splice(0, Math.max(1, Math.round(jobs)));
		if (waiting.length === 0) return;
		const data: Hex = `0x${"11".repeat(Math.round(bytesPerJob * waiting.length))}`;
		if (kind === "release")
			for (let i = 0; i < attesterCount; i++) await account.signMessage({ message: String(nonce) });
		const raw = await account.signTransaction({
			chainId,
			type: "eip1559",
			nonce: nonce++,
			to: account.address,
			data,
			gas: 100_000n + 50n * BigInt(data.length / 2),
			maxFeePerGas: parseGwei("100"),
			maxPriorityFeePerGas: parseGwei("1"),
		});
		const done = () => {
			for (const resolve of waiting) resolve();
		};
		sent.set(await client.sendRawTransaction({ serializedTransaction: raw }), done);
	}

	async function follow(): Promise<void> {
		for (let next = (await client.getBlockNumber()) + 1n; ; await sleep(pollMs)) {
			const head = await client.getBlock();
			for (; next <= head.number; next++) {
				const block = next === head.number ? head : await client.getBlock({ blockNumber: next });
				for (const hash of block.transactions) {
					const done = sent.get(hash);
					if (done) included.push({ block: next, done });
					sent.delete(hash);
				}
			}
			const isDeep = ({ block }: { block: bigint }) => head.number >= block + BigInt(settings.depthBlocks);
			for (const { done } of included.filter(isDeep)) done();
			included.splice(0, included.length, ...included.filter((one) => !isDeep(one)));
		}
	}
}

const bareStep = service({
	name: "bareStep",
	handlers: { run: async (ctx: Context) => ctx.run("one", async () => {}) },
});
createServer(createEndpointHandler({ services: [bareStep] })).listen(environment.enginePort, "127.0.0.1");

const settled = new Map<string, Promise<void>>();
async function settle(id: string): Promise<void> {
	await origin?.send("open");
	await destination?.send("fill");
	await pool.query({
		name: "end",
		text: "update bare_swaps set state = 'settled' where id = $1",
		values: [id],
	});
	void origin?.send("release");
}

const app = fastify();
app.get("/ready", async () => ({}));
app.put<{ Body: Settings }>("/settings", async ({ body }) => {
	settings = body;
	return {};
});
app.post<{ Body: { message: string; signature: Hex; signer: Hex } }>("/swaps", async ({ body }) => {
	const { message, signature, signer } = body;
	if ((await recoverMessageAddress({ message, signature })) !== signer) throw new Error("not its signature");
	const { rows } = await pool.query<{ id: number }>({
		name: "insert",
		text: "insert into bare_swaps (state, body) values ('pending', $1) returning id",
		values: [JSON.stringify(body)],
	});
	const id = String(rows[0]?.id);
	await fetch(`${environment.ingressUrl}/bareStep/run`, { method: "POST" }).then((response) =>
		response.text(),
	);
	settled.set(id, settle(id));
	return { id };
});
app.get<{ Params: { id: string } }>("/swaps/:id", async ({ params: { id } }) => {
	await settled.get(id);
	const { rows } = await pool.query({
		name: "read",
		text: "select id, state from bare_swaps where id = $1",
		values: [id],
	});
	return rows[0];
});
await app.listen({ host: "127.0.0.1", port: environment.port });
