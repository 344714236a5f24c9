import { randomUUID } from "node:crypto";
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
import {
	type Hex,
	numberToHex,
	parseSignature,
	recoverTypedDataAddress,
	serializeCompactSignature,
	serializeSignature,
	signatureToCompactSignature,
	slice,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import { queueJob } from "../../../test/lane/queue-job.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { type AttesterClient, connectAttester, pollHeartbeats } from "./attester-client.ts";
import { createAttestation } from "./create-attestation.ts";

const log = pino({ level: "silent" });
const chainId = 31337;
const nowMs = 1_800_000_000_000;
const accounts = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()]
	.map((key) => privateKeyToAccount(key))
	.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
const set = { threshold: 2, attesters: accounts.map((account) => account.address) };
const config = {
	deployment: { chains: [{ attesterSet: { ...set, hash: attesterSetHash(set) } }] } as unknown as Deployment,
	earlierAttesterSets: [] as (typeof set & { hash: Hex })[],
};

/** An attester as the service reaches it. It signs everything except the orders in `refused`. */
type TestAttester = {
	client: AttesterClient;
	refused: Set<Hex>;
	/** True if it refuses the first order of every list. */
	isInconsistent: boolean;
	/** Changes the attester's signatures before they are returned. */
	deform: (signature: Hex) => Hex;
	isDown: boolean;
	/** All requests that it received. */
	asked: AttestBody[];
	close: () => Promise<void>;
};
type AttestBody = { kind: AttestationKind; orders: OrderJson[] };

async function startTestAttester(account: PrivateKeyAccount): Promise<TestAttester> {
	const app = Fastify({ forceCloseConnections: true });
	app.addHook("onRequest", async (_, reply) => {
		if (attester.isDown) return reply.code(503).send();
	});
	app.get("/heartbeat", async () => {
		const beat = { chainId, finalizedNumber: 5, signedAtUnixSeconds: nowMs / 1_000 };
		return [{ ...beat, signature: await account.signTypedData(heartbeatTypedData(beat)) }];
	});
	app.post<{ Body: AttestBody }>("/attest", async (request, reply) => {
		attester.asked.push(request.body);
		const orders = request.body.orders.map((order) => orderSchema.parse(order));
		const refused = orders
			.map(orderId)
			.filter((id, i) => attester.refused.has(id) || (attester.isInconsistent && i === 0));
		if (refused.length > 0) {
			return reply.code(409).send({ refused: refused.map((id) => ({ orderId: id, reason: "not_filled" })) });
		}
		const message = attestationMessage(request.body.kind, orders);
		return {
			attester: account.address,
			signature: attester.deform(await account.signTypedData(attestationTypedData(message))),
		};
	});
	const url = await app.listen({ host: "127.0.0.1", port: 0 });
	const attester: TestAttester = {
		client: connectAttester({ url, timeoutMs: 3_000 }),
		refused: new Set(),
		isInconsistent: false,
		deform: (signature) => signature,
		isDown: false,
		asked: [],
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
	await database.owner.query("truncate jobs, attestations, heartbeats, chain_events");
	attesters = await Promise.all(accounts.map(startTestAttester));
});
afterEach(() => Promise.all(attesters.map((attester) => attester.close())));

async function queueOrders(
	count: number,
	kind: "release" | "refund" = "release",
	terms: Partial<Order> = {},
): Promise<Order[]> {
	const orders: Order[] = [];
	for (let i = 0; i < count; i++) {
		const swapId = crypto.randomUUID();
		const order = {
			...anyOrder(),
			originChainId: BigInt(chainId),
			attesterSet: attesterSetHash(set),
			swapKey: toSwapKey(swapId),
			...terms,
		};
		const common = {
			swapId,
			chainId,
			orderId: orderId(order),
			order,
			state: "unattested",
		} as const;
		if (kind === "release") await queueJob(database.pool, { ...common, kind, payload: {} });
		else await queueJob(database.pool, { ...common, kind, payload: { attested: true } });
		orders.push(order);
	}
	return orders;
}

async function attest(known = config) {
	const pokes: string[] = [];
	const attestation = createAttestation({
		newId: randomUUID,
		config: known,
		pool: database.pool,
		attesters: attesters.map((attester) => attester.client),
		engine: {
			poke: async ({ object }) => {
				pokes.push(object);
			},
		},
		lanePoke: (at) => [{ target: { object: "lane", key: String(at.chainId) }, options: {} }],
		nowMs: () => nowMs,
		log,
	});
	await attestation(String(chainId));
	const { rows } = await database.pool.query("select * from attestations order by created_at");
	return { pokes, attestations: rows };
}

async function jobStates(): Promise<Record<Hex, string>> {
	const { rows } = await database.pool.query("select order_id, state from jobs");
	return Object.fromEntries(rows.map((row) => [`0x${row.order_id.toString("hex")}`, row.state]));
}

test("one set of signatures covers all orders of a kind, in ascending order, with the minimum number of signatures", async () => {
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

test("an order that is refused blocks no other, and is requested again", async () => {
	const [bad, ...good] = (await queueOrders(3)).map(orderId);
	for (const attester of attesters) attester.refused.add(bad as Hex);
	const { attestations, pokes } = await attest();
	expect(attestations.map((row) => row.order_ids.toSorted())).toEqual([good.toSorted()]);
	expect((await jobStates())[bad as Hex]).toBe("unattested");
	expect(pokes).toEqual(["lane", "attestation"]);
});

test("one attester that refuses changes nothing, and with two attesters down nothing is attested", async () => {
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

test("an attester that refuses a different order each time blocks no order that two others sign", async () => {
	const ids = (await queueOrders(6)).map(orderId);
	const [fickle, , picky] = attesters as [TestAttester, TestAttester, TestAttester];
	fickle.isInconsistent = true;
	for (const id of ids.slice(3, 5)) picky.refused.add(id);
	const { attestations } = await attest();
	expect(attestations.flatMap((row) => row.order_ids)).toEqual(expect.arrayContaining([ids[2], ids[5]]));
});

test("orders to a chain that no attester reads block no orders to another chain", async () => {
	const [seen] = await queueOrders(1);
	const unseen = await queueOrders(2, "release", { destinationChainId: 99n });
	for (const attester of attesters) for (const order of unseen) attester.refused.add(orderId(order));
	const asked: Order[][] = [];
	for (const attester of attesters) {
		const { attest: ask } = attester.client;
		attester.client.attest = (kind, orders) => {
			asked.push([...orders]);
			return ask(kind, orders);
		};
	}
	const { attestations } = await attest();
	expect(attestations.map((row) => row.order_ids)).toEqual([[orderId(seen as Order)]]);
	for (const orders of asked) expect(new Set(orders.map((order) => order.destinationChainId)).size).toBe(1);
});

test("orders that no attester signs, in any number, do not delay the others of both kinds", async () => {
	for (const order of await queueOrders(60)) for (const { refused } of attesters) refused.add(orderId(order));
	const good = [...(await queueOrders(1)), ...(await queueOrders(1, "refund"))].map(orderId);
	const { attestations } = await attest();
	expect(attestations.flatMap((row) => row.order_ids).toSorted()).toEqual(good.toSorted());
});

test("a signature is stored in the form that the escrow accepts, or is ignored", async () => {
	const [highS, compact, short] = attesters as [TestAttester, TestAttester, TestAttester];
	highS.deform = (signature) => {
		const { r, s, yParity } = parseSignature(signature);
		const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
		return serializeSignature({ r, s: numberToHex(order - BigInt(s), { size: 32 }), yParity: 1 - yParity });
	};
	compact.deform = (signature) => {
		const { r, s, yParity } = parseSignature(signature);
		return serializeCompactSignature(signatureToCompactSignature({ r, s, yParity: yParity === 1 ? 1 : 0 }));
	};
	short.deform = (signature) => `${slice(signature, 0, 64)}0${parseSignature(signature).yParity}`;
	const [order] = await queueOrders(1);
	const [row] = (await attest()).attestations;
	const typedData = attestationTypedData(attestationMessage("Release", [order as Order]));
	const expected = await Promise.all(
		[1, 2].map((i) => (accounts[i] as PrivateKeyAccount).signTypedData(typedData)),
	);
	expect(row.signatures).toEqual(expected);
});

test("orders of an earlier set are signed by that set, and its heartbeats count", async () => {
	const known = { deployment: { chains: [] } as unknown as Deployment, earlierAttesterSets: [] as never[] };
	const earlier = { ...known, earlierAttesterSets: [{ ...set, hash: attesterSetHash(set) }] };
	await queueOrders(1);
	expect((await attest(known)).attestations).toEqual([]);
	expect((await attest(earlier)).attestations).toHaveLength(1);
	const clients = attesters.map((attester) => attester.client);
	await pollHeartbeats({ config: earlier, attesters: clients, db: database.pool, nowMs, log });
	expect((await database.pool.query("select from heartbeats")).rowCount).toBe(3);
});

test("more orders than fit into one list are signed in several", async () => {
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

test("a verified heartbeat is stored, and one from the future is not", async () => {
	const clients = attesters.map((attester) => attester.client);
	await pollHeartbeats({ config, attesters: clients, db: database.pool, nowMs: nowMs - 120_000, log });
	expect((await database.pool.query("select from heartbeats")).rowCount).toBe(0);
	await pollHeartbeats({ config, attesters: clients, db: database.pool, nowMs, log });
	const { rows } = await database.pool.query("select attester, chain_id, signed_at from heartbeats");
	expect(rows).toHaveLength(3);
	expect(rows[0]).toMatchObject({ chain_id: chainId, signed_at: new Date(nowMs) });
});
