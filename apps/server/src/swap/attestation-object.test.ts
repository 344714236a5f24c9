import {
	type AttestationKind,
	attestationMessage,
	attestationTypedData,
	attesterSetHash,
	type Deployment,
	heartbeatTypedData,
	type Order,
	type OrderJson,
	orderId,
	orderSchema,
	toSwapKey,
} from "@geoswap/protocol";
import Fastify from "fastify";
import { pino } from "pino";
import { type Hex, recoverTypedDataAddress } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import { createInProcessDurable } from "../../test/in-process-durable.ts";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { queueJob } from "../store/jobs.ts";
import { createAttestation } from "./attestation-object.ts";
import { type AttesterClient, connectAttester } from "./attester-client.ts";
import { pollHeartbeats } from "./poll-heartbeats.ts";

const log = pino({ level: "silent" });
const chainId = 31337;
const nowMs = 1_800_000_000_000;
const accounts = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()]
	.map((key) => privateKeyToAccount(key))
	.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
const set = { threshold: 2, attesters: accounts.map((account) => account.address) };
const config = {
	deployment: { chains: [{ attesterSet: { ...set, hash: attesterSetHash(set) } }] } as unknown as Deployment,
};

/** An attester as seen from here: it signs what it is asked, but for the orders that it is told to refuse. */
type TestAttester = {
	client: AttesterClient;
	refused: Set<Hex>;
	isDown: boolean;
	close: () => Promise<void>;
};

async function startTestAttester(account: PrivateKeyAccount): Promise<TestAttester> {
	const app = Fastify({ forceCloseConnections: true });
	app.addHook("onRequest", async (_, reply) => {
		if (attester.isDown) return reply.code(503).send();
	});
	app.get("/heartbeat", async () => {
		const beat = { chainId, finalizedNumber: 5, signedAtUnixSeconds: nowMs / 1_000 };
		return [{ ...beat, signature: await account.signTypedData(heartbeatTypedData(beat)) }];
	});
	app.post<{ Body: { kind: AttestationKind; orders: OrderJson[] } }>("/attest", async (request, reply) => {
		const orders = request.body.orders.map((order) => orderSchema.parse(order));
		const refused = orders.map(orderId).filter((id) => attester.refused.has(id));
		if (refused.length > 0) {
			return reply.code(409).send({ refused: refused.map((id) => ({ orderId: id, reason: "not_filled" })) });
		}
		const message = attestationMessage(request.body.kind, orders);
		return {
			attester: account.address,
			signature: await account.signTypedData(attestationTypedData(message)),
		};
	});
	const url = await app.listen({ host: "127.0.0.1", port: 0 });
	const attester: TestAttester = {
		client: connectAttester({ url, timeoutMs: 3_000 }),
		refused: new Set(),
		isDown: false,
		close: () => app.close(),
	};
	return attester;
}

let database: TestDatabase;
let attesters: TestAttester[];
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
	await database.pool.query("truncate jobs, attestations, heartbeats");
	attesters = await Promise.all(accounts.map(startTestAttester));
});
afterEach(() => Promise.all(attesters.map((attester) => attester.close())));

async function queueOrders(count: number, kind: "release" | "refund" = "release"): Promise<Order[]> {
	const orders: Order[] = [];
	for (let i = 0; i < count; i++) {
		const swapId = crypto.randomUUID();
		const order = {
			...anyOrder(),
			originChainId: BigInt(chainId),
			attesterSet: attesterSetHash(set),
			swapKey: toSwapKey(swapId),
		};
		const common = {
			swapId,
			chainId,
			orderId: orderId(order),
			order,
			state: "unattested",
			alone: false,
		} as const;
		if (kind === "release") await queueJob(database.pool, { ...common, kind, payload: {} });
		else await queueJob(database.pool, { ...common, kind, payload: { attested: true } });
		orders.push(order);
	}
	return orders;
}

async function attest() {
	const durable = createInProcessDurable(() => Promise.reject(new Error("it waits")));
	const attestation = createAttestation({
		config,
		pool: database.pool,
		attesters: attesters.map((attester) => attester.client),
		pokeLanes: (engine, target) => engine.poke({ object: "lane", key: String(target.chainId) }),
		nowMs: () => nowMs,
		log,
	});
	await attestation(durable, String(chainId));
	const { rows } = await database.pool.query("select * from attestations order by created_at");
	return { pokes: durable.pokes.map((poke) => poke.object), attestations: rows };
}

async function jobStates(): Promise<Record<Hex, string>> {
	const { rows } = await database.pool.query("select order_id, state from jobs");
	return Object.fromEntries(rows.map((row) => [`0x${row.order_id.toString("hex")}`, row.state]));
}

test("one set of signatures serves all orders of a kind, ascending and no more than needed", async () => {
	const orders = [...(await queueOrders(3)), ...(await queueOrders(2, "refund"))];
	const { attestations, pokes } = await attest();
	expect(pokes).toEqual(["lane"]);
	expect(attestations.map((row) => row.order_ids.length).toSorted()).toEqual([2, 3]);
	expect(new Set(Object.values(await jobStates()))).toEqual(new Set(["queued"]));
	for (const { kind, order_ids: ids, signatures } of attestations) {
		const listed = ids.flatMap((id: Hex) => orders.find((order) => orderId(order) === id) ?? []);
		const typedData = attestationTypedData(attestationMessage(kind, listed));
		const signers = await Promise.all(
			signatures.map((signature: Hex) => recoverTypedDataAddress({ ...typedData, signature })),
		);
		expect(signers).toEqual(set.attesters.slice(0, 2));
	}
});

test("an order that is refused holds up no other, and is asked for again", async () => {
	const [bad, ...good] = (await queueOrders(3)).map(orderId);
	for (const attester of attesters) attester.refused.add(bad as Hex);
	const { attestations, pokes } = await attest();
	expect(attestations.map((row) => row.order_ids.toSorted())).toEqual([good.toSorted()]);
	expect((await jobStates())[bad as Hex]).toBe("unattested");
	expect(pokes).toEqual(["lane", "attestation"]);
});

test("one attester that refuses all, or is gone, changes nothing; two leave everything as it was", async () => {
	const ids = (await queueOrders(2)).map(orderId);
	const [first, second] = attesters as [TestAttester, TestAttester];
	for (const id of ids) first.refused.add(id);
	expect((await attest()).attestations).toHaveLength(1);

	await queueOrders(2);
	first.isDown = true;
	second.isDown = true;
	const { attestations, pokes } = await attest();
	expect(attestations).toHaveLength(1);
	expect(pokes).toEqual(["attestation"]);
});

test("more orders than one list holds are signed for in several", async () => {
	await queueOrders(60);
	const { attestations } = await attest();
	expect(attestations.map((row) => row.order_ids.length)).toEqual([50, 10]);
});

test("only signatures of the set count, for attestations and heartbeats", async () => {
	await queueOrders(1);
	const strangers = await Promise.all(
		[1, 2, 3].map(() => startTestAttester(privateKeyToAccount(generatePrivateKey()))),
	);
	await Promise.all(attesters.map((attester) => attester.close()));
	attesters = strangers;
	expect((await attest()).attestations).toEqual([]);
	const clients = strangers.map((attester) => attester.client);
	await pollHeartbeats({ config, attesters: clients, db: database.pool, nowMs, log });
	expect((await database.pool.query("select from heartbeats")).rowCount).toBe(0);
});

test("a heartbeat is remembered once it is verified, and not one from the future", async () => {
	const clients = attesters.map((attester) => attester.client);
	await pollHeartbeats({ config, attesters: clients, db: database.pool, nowMs: nowMs - 120_000, log });
	expect((await database.pool.query("select from heartbeats")).rowCount).toBe(0);
	await pollHeartbeats({ config, attesters: clients, db: database.pool, nowMs, log });
	const { rows } = await database.pool.query("select attester, chain_id, signed_at from heartbeats");
	expect(rows).toHaveLength(3);
	expect(rows[0]).toMatchObject({ chain_id: chainId, signed_at: new Date(nowMs) });
});
