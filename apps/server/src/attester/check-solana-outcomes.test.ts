import { startTestChains, startTestSolana, type TestChains, type TestSolana } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	decideOrders,
	type Order,
	orderId,
	type ProgramDeployment,
	payOrder,
	type SolanaDeployment,
	unpackDeadlines,
} from "@geoswap/protocol";
import { type Hex, recoverAddress, zeroHash } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { orderActions } from "../../test/order/order-actions.ts";
import { signerOfAccount } from "../../test/signer/signer-of-account.ts";
import { type SolanaActions, solanaActions } from "../../test/solana/solana-actions.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { connectSolana, type SolanaChain } from "../chain/solana/connect-solana.ts";
import { readLanded } from "../chain/solana/read/read-landed.ts";
import { createLog } from "../telemetry/log.ts";
import { type Attester, createAttester, type Refusal } from "./create-attester.ts";

/** Slots pass only by the test's own actions. */
const slowSlotMs = 3_600_000;
const payout = 9_500_000n;

let chains: TestChains;
let solana: TestSolana;
let actions: ReturnType<typeof orderActions>;
let on: SolanaActions;
let attesters: Attester[];
let secondsAhead = 0;

beforeAll(async () => {
	[chains, solana] = await Promise.all([startTestChains(), startTestSolana({ slotMs: slowSlotMs })]);
	actions = orderActions(chains);
	on = await solanaActions(solana);
	attesters = chains.keys.attesters.slice(0, 2).map((key) => attesterOf(key));
});
afterAll(() => Promise.all([chains?.stop(), solana?.stop()]));

function attesterOf(key: Hex, onSolana: SolanaChain = connectSolana(solana)): Attester {
	return createAttester({
		config: {
			chains: [chains.origin, chains.destination].map((chain) => connectChain(chain)),
			solana: onSolana,
			earlierAttesterSets: [],
		},
		codeStateOf: () => "checked",
		signer: signerOfAccount(privateKeyToAccount(key)),
		nowMs: () => Date.now() + secondsAhead * 1_000,
		log: createLog({ level: "silent", process: "test" }),
	});
}

/** Returns why the attester refuses, or undefined if it signs. */
async function reasonOf(
	kind: "Release" | "Refund",
	order: Order,
	attester = attesters[0],
): Promise<Refusal["reason"] | undefined> {
	const answer = await attester?.attest({ kind, orders: [order] });
	return answer && "refused" in answer ? answer.refused[0]?.reason : undefined;
}

const orderToSolana = async (): Promise<Order> => on.toSolana(await actions.makeOrder());

const fill = async (order: Order) => on.land(await on.signFill(order, payout));

async function passTime(seconds: number): Promise<void> {
	secondsAhead += seconds;
	await solana.admin.passTime({ seconds });
	await on.finalize();
}

test("a release is signed once the program's record of the fill is final, and a refund is not signed after that", async () => {
	const order = await orderToSolana();
	expect(await reasonOf("Release", order)).toBe("not_filled");
	expect(await reasonOf("Refund", order)).toBe("not_expired");
	await fill(order);
	expect(await reasonOf("Release", order)).toBe("not_filled");
	await on.finalize();
	const answer = await attesters[0]?.attest({ kind: "Release", orders: [order] });
	if (!answer || !("signature" in answer)) throw new Error("it signs");
	const hash = attestationDigest(attestationMessage("Release", [order]));
	const signer = privateKeyToAccount(chains.keys.attesters[0] ?? "0x").address;
	expect(await recoverAddress({ hash, signature: answer.signature })).toBe(signer);
	expect(await reasonOf("Refund", order)).toBe("filled");
});

test("a refund is signed once the void is final, and a release is not signed after that", async () => {
	const order = await orderToSolana();
	await on.land(await on.signVoid(order));
	expect(await reasonOf("Refund", order)).toBe("not_expired");
	await on.finalize();
	expect(await reasonOf("Refund", order)).toBeUndefined();
	expect(await reasonOf("Release", order)).toBe("not_filled");
});

test("orders from Solana are released on Solana with the attesters' signatures once they are filled on another chain", async () => {
	const order = on.fromSolana(await actions.makeOrder());
	await on.land(await on.signDeposit(order));
	expect(await reasonOf("Release", order)).toBe("not_filled");
	await actions.fill(order, order.minOutput);
	await actions.finalize();
	expect(await reasonOf("Release", order)).toBeUndefined();
	const answers = await Promise.all(
		attesters.map((attester) => attester.attest({ kind: "Release", orders: [order] })),
	);
	const signatures = answers.flatMap((answer) => ("signature" in answer ? [answer.signature] : []));
	const { address: program, attesterSet: set } = solana.deployment.program;
	const releasing = await on.sign([
		await decideOrders(program, "Release", { orderIds: [orderId(order)], set, signatures }),
		await payOrder(program, order, { to: "vault" }),
	]);
	const released = await on.land(releasing);
	expect((await readLanded(on.chain, released))?.isFailed).toBe(false);
});

test("no order within Solana, or of an unknown set or program, is signed for", async () => {
	const order = on.fromSolana(await actions.makeOrder());
	const within = on.toSolana(order);
	for (const kind of ["Release", "Refund"] as const) {
		expect(await reasonOf(kind, within)).toBe("same_chain");
		expect(await reasonOf(kind, { ...order, attesterSet: zeroHash })).toBe("unknown_attester_set");
		expect(await reasonOf(kind, { ...order, escrow: order.originVault })).toBe("unknown_escrow");
		expect(await reasonOf(kind, { ...order, originVault: order.escrow })).toBe("unknown_vault");
	}
});

test("nothing is signed for a program with other code or another upgrade authority, and Solana has no heartbeat then", async () => {
	const order = await orderToSolana();
	await fill(order);
	await on.finalize();
	const key = chains.keys.attesters[0] ?? "0x";
	const published = (changes: Partial<ProgramDeployment>) => {
		const deployment: SolanaDeployment = {
			...solana.deployment,
			program: { ...solana.deployment.program, ...changes },
		};
		return attesterOf(key, connectSolana({ rpcUrl: solana.rpcUrl, deployment }));
	};
	const beatsOf = async (attester: Attester) => (await attester.heartbeats()).map(({ chainId }) => chainId);
	const { code, address } = solana.deployment.program;
	for (const attester of [
		published({ upgradeAuthority: address }),
		published({ code: { ...code, sha256: zeroHash } }),
		published({ code: { ...code, bytes: code.bytes - 1 } }),
	]) {
		expect(await reasonOf("Release", order, attester)).toBe("code_differs");
		expect(await beatsOf(attester)).not.toContain(solana.deployment.chainId);
	}
	const [attester] = attesters;
	if (!attester) throw new Error("there are attesters");
	expect(await reasonOf("Release", order)).toBeUndefined();
	expect(await beatsOf(attester)).toContain(solana.deployment.chainId);
});

test("without a record, a refund is signed after the fill deadline has passed at finality, and no longer once the record may have been closed", async () => {
	const order = await orderToSolana();
	const { fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	const now = BigInt(Math.floor(Date.now() / 1_000) + secondsAhead);
	await passTime(Number(fillDeadline - now) - 60);
	expect(await reasonOf("Refund", order)).toBe("not_expired");
	await passTime(60);
	expect(await reasonOf("Refund", order)).toBeUndefined();
	await passTime(Number(refundAfter - fillDeadline) + 86_400);
	expect(await reasonOf("Refund", order)).toBe("too_late");
});
