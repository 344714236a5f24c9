import { accountOfSigner } from "@geoswap/keys/account-of-signer";
import { type Deployment, encodeBundle, toWord } from "@geoswap/protocol";
import {
	hexToBytes,
	numberToHex,
	parseTransaction,
	serializeTransaction,
	type TransactionSerializable,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLaneScene, type LaneScene } from "../../../test/lane/lane-scene.ts";
import { type RecordedLanes, recordEvmLanes } from "../../../test/signer/evm-lane-payloads.ts";
import { forgeries, type Thief } from "../../../test/signer/forge-evm.ts";
import { noCap, startTestSigner, type TestSigner } from "../../../test/signer/start-test-signer.ts";

/** How often each forgery is tried on each payload. */
const rounds = process.env.GEOSWAP_FULL ? 30 : 1;
/** The minimum number of different forgeries. */
const least = process.env.GEOSWAP_FULL ? 1_000 : 300;

let scene: LaneScene;
let signer: TestSigner;
let recorded: RecordedLanes;
let thief: Thief;
beforeAll(async () => {
	scene = await createLaneScene();
	signer = await startStrictSigner();
	const backend = signer.backendOf("worker");
	// The lanes sign through the signer, over the network.
	recorded = await recordEvmLanes(scene, {
		accountOn: async (chainId) => {
			const rest = `relayer-${chainId}`;
			const name = { reference: `remote:${rest}`, backend: "remote" } as const;
			return accountOfSigner(await backend.openEvm({ name, rest }));
		},
	});
	let turn = 1;
	thief = {
		account: privateKeyToAccount(generatePrivateKey()),
		chain: scene.origin.deployment,
		otherChain: scene.destination.deployment,
		// A fixed sequence, so that a failure can be repeated.
		dice: (below) => {
			turn = (turn * 48_271) % 2_147_483_647;
			return turn % below;
		},
	};
}, 240_000);
afterAll(async () => {
	await signer?.stop();
	await scene?.stop();
});

/** Starts a signer that reads deposits itself, and pays nothing that it cannot prove. */
function startStrictSigner(unproven: object = {}): Promise<TestSigner> {
	const deployment: Deployment = { chains: [scene.origin.deployment, scene.destination.deployment] };
	const chainOf = ({ chainId, rpcUrl, deployment: { assets } }: LaneScene["chains"]["origin"]) => [
		String(chainId),
		{
			rpcUrl,
			outflow: Object.fromEntries(assets.map(({ address }) => [address, { ...noCap, ...unproven }])),
			finalitySeconds: 5,
			maxFeePerGasWei: String(500n * 10n ** 9n),
			maxTransactionFeeWei: String(10n ** 19n),
		},
	];
	const key = {
		use: "relayer",
		reference: "env:RELAYER",
		clients: ["worker"],
		signaturesPerHour: 100_000,
		feesWei: noCap,
	};
	const { origin, destination } = scene.chains;
	return startTestSigner({
		deployment,
		secrets: { RELAYER: hexToBytes(scene.chains.keys.relayers[0] ?? "0x") },
		config: {
			chains: Object.fromEntries([chainOf(origin), chainOf(destination)]),
			keys: Object.fromEntries(
				[origin, destination].map(({ chainId }) => [`relayer-${chainId}`, { ...key, chainId }]),
			),
		},
	});
}

test("real lanes get every transaction signed, and a repeated request gets the same signature and counts once", async () => {
	const kinds = new Set(recorded.payloads.map(({ kind }) => kind));
	expect(kinds).toEqual(new Set(["open", "fill", "void", "release", "refund", "cancel"]));
	const client = signer.clientOf("worker");
	for (const { chainId, kind, unsigned } of recorded.payloads) {
		const payload = { kind: "transaction", unsigned };
		const first = await client.post(`/sign/relayer-${chainId}`, payload);
		expect({ kind, ...first }).toMatchObject({ kind, status: 200 });
		expect(await client.post(`/sign/relayer-${chainId}`, payload)).toEqual(first);
	}
	expect(signer.lines.filter(({ msg }) => msg === "signed")).toHaveLength(recorded.payloads.length);
	expect(signer.lines.filter(({ msg }) => msg === "refused")).toEqual([]);
});

test("a worker that was taken over gets no forged transaction signed", async () => {
	const client = signer.clientOf("worker");
	const signed: string[] = [];
	const tried = new Map<string, number>();
	const reasons = new Map<string, number>();
	const seen = new Set<string>();
	for (let round = 0; round < rounds; round++) {
		const account = privateKeyToAccount(generatePrivateKey());
		for (const { chainId, unsigned } of recorded.payloads) {
			const [chain, otherChain] =
				chainId === scene.origin.chainId
					? [scene.origin.deployment, scene.destination.deployment]
					: [scene.destination.deployment, scene.origin.deployment];
			for (const [name, forge] of Object.entries(forgeries)) {
				const forged = await forge(unsigned, { ...thief, account, chain, otherChain });
				if (forged === undefined || forged === unsigned || seen.has(forged)) continue;
				seen.add(forged);
				tried.set(name, (tried.get(name) ?? 0) + 1);
				const { status, body } = await client.post(`/sign/relayer-${chainId}`, {
					kind: "transaction",
					unsigned: forged,
				});
				const reason = (body as { reason?: string }).reason ?? "none";
				reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
				if (status === 200) signed.push(name);
				else expect([400, 403, 429]).toContain(status);
			}
			// A payload of one chain, offered to the other chain's key.
			if (round > 0) continue;
			const { status } = await client.post(`/sign/relayer-${otherChain.chainId}`, {
				kind: "transaction",
				unsigned,
			});
			tried.set("a replay on another chain", (tried.get("a replay on another chain") ?? 0) + 1);
			if (status === 200) signed.push("a replay on another chain");
		}
	}
	expect(signed).toEqual([]);
	// Each forgery fits at least one payload, since it would otherwise prove nothing.
	expect([...Object.keys(forgeries).filter((name) => !tried.has(name))]).toEqual([]);
	const count = [...tried.values()].reduce((sum, one) => sum + one, 0);
	console.log(`${count} forged transactions refused:`, Object.fromEntries(reasons));
	expect(count).toBeGreaterThanOrEqual(least);
}, 240_000);

test("many small payouts without a deposit stop at their cap, also if the signer is killed in between", async () => {
	const capped = await startStrictSigner({ unproven: { perHour: "5000000", perDay: "5000000" } });
	try {
		const fill = recorded.payloads.find(({ kind }) => kind === "fill");
		if (!fill) throw new Error("no fill was recorded");
		const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(fill.unsigned);
		const vault = scene.destination.deployment.contracts.vault;
		let paid = 0n;
		let refused = 0;
		for (let i = 0; i < 20; i++) {
			if (i === 3 || i === 12) await capped.restart();
			const order = {
				...recorded.unopened,
				minOutput: 1n,
				recipient: toWord(thief.account.address),
				swapKey: numberToHex(i + 1, { size: 32 }),
			};
			const small = { order, amount: 900_000n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
			const call = encodeBundle({ kind: "fill", vault, fills: [small] });
			const fees = {
				gas: gas ?? 0n,
				maxFeePerGas: maxFeePerGas ?? 0n,
				maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n,
			};
			const unsigned = serializeTransaction({
				type: "eip1559",
				chainId: chainId ?? 0,
				nonce: (nonce ?? 0) + i,
				...fees,
				...call,
			});
			const { status, body } = await capped
				.clientOf("worker")
				.post(`/sign/relayer-${chainId}`, { kind: "transaction", unsigned });
			if (status === 200) paid += 900_000n;
			else {
				expect({ status, body }).toMatchObject({ status: 429, body: { reason: "unproven" } });
				refused++;
			}
		}
		expect(paid).toBe(4_500_000n);
		expect(refused).toBe(15);
		// A payout that a deposit proves is still signed.
		expect(
			await capped
				.clientOf("worker")
				.post(`/sign/relayer-${chainId}`, { kind: "transaction", unsigned: fill.unsigned }),
		).toMatchObject({ status: 200 });
	} finally {
		await capped.stop();
	}
});

test("payloads that were never seen before are all signed, one after the other", async () => {
	const client = signer.clientOf("worker");
	const cancel = recorded.payloads.find(({ kind }) => kind === "cancel");
	if (!cancel) throw new Error("no cancel was recorded");
	const { r: _, s: __, v: ___, yParity: ____, ...transaction } = parseTransaction(cancel.unsigned);
	const times: number[] = [];
	for (let i = 0; i < (process.env.GEOSWAP_FULL ? 1_000 : 60); i++) {
		const unsigned = serializeTransaction({
			...transaction,
			gas: 21_000n + BigInt(i),
		} as TransactionSerializable);
		const startedAt = performance.now();
		const { status } = await client.post(`/sign/relayer-${cancel.chainId}`, {
			kind: "transaction",
			unsigned,
		});
		times.push(performance.now() - startedAt);
		expect(status).toBe(200);
	}
	times.sort((a, b) => a - b);
	const at = (share: number) => (times[Math.floor(share * times.length)] ?? 0).toFixed(1);
	console.log(`${times.length} signatures: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
});
