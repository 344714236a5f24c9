import { randomBytes } from "node:crypto";
import {
	callMany,
	cctpOf,
	type DevCctp,
	type DevIris,
	deriveDevnetKeys,
	type IrisMood,
	startIris,
	startTestChains,
	type TestChain,
	type TestChains,
} from "@geoswap/devnet";
import { geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	bytesToHex,
	concat,
	encodeAbiParameters,
	encodeFunctionData,
	erc20Abi,
	type Hash,
	type Hex,
	numberToHex,
	parseUnits,
	size,
	slice,
} from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { requestReattestation } from "../../chain/evm/cctp/read-attestation.ts";
import { mintCall } from "../../chain/evm/cctp/read-mint.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import type { CctpStep } from "./cctp.ts";
import { type CctpMoveRow, lookAtCctpMove } from "./look-at-cctp-move.ts";

const treasurer = privateKeyToAddress(deriveDevnetKeys().treasurer);
const stranger: Address = "0x0000000000000000000000000000000000057a16";
const amount = parseUnits("1000", 6);
const usualMs = { fast: 20_000, standard: 900_000 };

let chains: TestChains;
let origin: DevCctp;
let destination: DevCctp;
let iris: DevIris;
/** How far the clock of the service and of Iris is ahead. */
let aheadMs = 0;
const clock = () => Date.now() + aheadMs;

beforeAll(async () => {
	chains = await startTestChains();
	[origin, destination] = [cctpOf(chains.origin), cctpOf(chains.destination)];
	for (const { testClient } of [chains.origin, chains.destination]) {
		for (const address of [treasurer, stranger]) await testClient.setBalance({ address, value: 10n ** 18n });
	}
	iris = await startIris({ chains: [chains.origin, chains.destination], now: clock });
});
afterAll(async () => {
	await iris?.stop();
	await chains?.stop();
});
beforeEach(() => {
	aheadMs = 0;
	iris.service = "up";
	iris.mood = "honest";
});

/** Burns as the treasurer's lane does, and returns the move's row. */
async function burnMove({
	maxFee = 0n,
	minFinalityThreshold = 2_000,
	moved = amount,
	mood,
}: {
	maxFee?: bigint;
	minFinalityThreshold?: number;
	moved?: bigint;
	mood?: IrisMood;
} = {}): Promise<CctpMoveRow & { transactionHash: Hash }> {
	const { deployment } = origin.chain;
	const { vault } = deployment.contracts;
	const route = origin.routes[destination.chain.chainId] as Address;
	const moveId = bytesToHex(randomBytes(32));
	const destinationBlock = Number(await destination.chain.publicClient.getBlockNumber());
	const data = encodeAbiParameters([{ type: "uint256" }, { type: "uint32" }], [maxFee, minFinalityThreshold]);
	const transactionHash = await send(origin.chain, treasurer, {
		to: vault,
		data: encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "bridge",
			args: [moveId, deployment.settlementToken, route, moved, data],
		}),
	});
	if (mood) iris.moodOf.set(transactionHash, mood);
	return {
		state: "queued",
		moveId,
		transactionHash,
		vault,
		destinationBlock,
		mintToken: destination.chain.deployment.settlementToken,
		usualMs,
		burn: {
			sourceDomain: origin.domain,
			destinationDomain: destination.domain,
			sourceMessenger: origin.tokenMessenger,
			destinationMessenger: destination.tokenMessenger,
			route,
			burnToken: deployment.settlementToken,
			recipient: destination.chain.deployment.contracts.vault,
			amount: moved,
			maxFee,
			minFinalityThreshold,
		},
	};
}

/** Sends a transaction without a key. Returns its hash, regardless of whether it reverted. */
async function send(chain: TestChain, from: Address, call: { to: Address; data: Hex }): Promise<Hash> {
	await chain.testClient.impersonateAccount({ address: from });
	const hash = await chain.testClient.request<{
		Method: "eth_sendTransaction";
		Parameters: [Record<string, string>];
		ReturnType: Hash;
	}>({ method: "eth_sendTransaction", params: [{ from, ...call, gas: "0xf4240" }] });
	await expect.poll(() => chain.publicClient.getTransactionReceipt({ hash }).catch(() => null)).toBeTruthy();
	return hash;
}

function look(row: CctpMoveRow, otherNonces: readonly Hex[] = []): Promise<CctpStep> {
	const connect = ({ chainId, rpcUrl, deployment }: TestChain) =>
		connectChain({ chainId, rpcUrl, deployment });
	return lookAtCctpMove(row, {
		origin: connect(origin.chain),
		destination: connect(destination.chain),
		contracts: destination,
		iris: { url: iris.url, timeoutMs: 2_000 },
		nowMs: clock(),
		isMintInFlight: false,
		isNonceOfAnother: (nonce) => otherNonces.includes(nonce),
	});
}

/** Does what a step says, and returns the row that is written after it. */
async function act<Row extends CctpMoveRow>(row: Row, step: CctpStep): Promise<Row> {
	const { state } = step;
	if (step.kind === "send mint") {
		const { message, attestation } = step;
		await mint(step, treasurer);
		return { ...row, state, attested: { message, attestation } };
	}
	if (step.kind === "reattest") {
		await requestReattestation({ url: iris.url, timeoutMs: 2_000 }, step.nonce);
		return { ...row, state, reattestedAtMs: clock() };
	}
	if (step.kind === "arrived") return { ...row, state, attested: step.attested };
	return { ...row, state };
}

function mint(attested: { message: Hex; attestation: Hex }, from: Address): Promise<Hash> {
	return send(destination.chain, from, {
		to: destination.messageTransmitter,
		data: encodeFunctionData(mintCall(destination, attested)),
	});
}

/** Looks and acts until a step of this kind, and returns it with the row as it was written before. */
async function until(
	row: CctpMoveRow,
	kind: CctpStep["kind"],
): Promise<{ row: CctpMoveRow; step: CctpStep; kinds: CctpStep["kind"][] }> {
	let current = row;
	const kinds: CctpStep["kind"][] = [];
	for (let i = 0; i < 20; i++) {
		const step = await look(current);
		kinds.push(step.kind);
		if (step.kind === kind) return { row: current, step, kinds };
		current = await act(current, step);
	}
	throw new Error(`no step is to ${kind}: ${kinds.join(", ")}`);
}

async function makeFinal({ chain }: DevCctp): Promise<void> {
	await chain.testClient.mine({ blocks: 6 });
}

function held({ chain }: DevCctp, address: Address): Promise<bigint> {
	return chain.publicClient.readContract({
		address: chain.deployment.settlementToken,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [address],
	});
}

function heldByVaults(): Promise<bigint[]> {
	return Promise.all([origin, destination].map((side) => held(side, side.chain.deployment.contracts.vault)));
}

test("a standard burn waits for its final block, and arrives whole", async () => {
	const [before, beforeThere] = (await heldByVaults()) as [bigint, bigint];
	let row: CctpMoveRow = await burnMove();
	const waiting = await look(row);
	expect(waiting).toEqual({ kind: "wait", state: "sent", for: "the attestation" });
	row = await act(row, waiting);
	await makeFinal(origin);
	const arrived = await until(row, "arrived");
	expect(arrived.kinds).toEqual(["send mint", "arrived"]);
	expect(arrived.step).toMatchObject({ state: "arrived", received: amount, fee: 0n });
	expect(await heldByVaults()).toEqual([before - amount, beforeThere + amount]);

	row = await act(arrived.row, arrived.step);
	expect(await look(row)).toMatchObject({ kind: "wait", for: "the mint to be final" });
	await makeFinal(destination);
	expect(await look(row)).toMatchObject({ kind: "final", state: "final" });
});

test("a fast burn arrives less its fee before its block is final, and ends only once that is final", async () => {
	const [, beforeThere] = (await heldByVaults()) as [bigint, bigint];
	// A tenth of a USDC is one basis point. The last unit rounds the fee up.
	const moved = amount + 1n;
	const fee = 100_001n;
	const { row, step } = await until(
		await burnMove({ maxFee: 200_000n, minFinalityThreshold: 1_000, moved }),
		"arrived",
	);
	expect(step).toMatchObject({ received: moved - fee, fee });
	expect((await heldByVaults())[1]).toBe(beforeThere + moved - fee);
	await makeFinal(destination);
	const arrived = await act(row, step);
	expect(await look(arrived)).toMatchObject({ kind: "wait", for: "the burn to be final" });
	await makeFinal(origin);
	expect(await look(arrived)).toMatchObject({ kind: "final" });
});

test("a fast burn that offers too little becomes a standard one, and has that one's time", async () => {
	const row = await burnMove({ maxFee: 1n, minFinalityThreshold: 1_000 });
	aheadMs = 10 * usualMs.fast;
	const waiting = await look(row);
	expect(waiting).toEqual({
		kind: "wait",
		state: "sent",
		for: "the attestation, delayed by insufficient_fee",
	});
	await makeFinal(origin);
	const { step } = await until(row, "arrived");
	expect(step).toMatchObject({ received: amount, fee: 0n });
});

test("a burn that Iris does not see is stuck after three times the usual time, and arrives when Iris does", async () => {
	const row = await burnMove({ mood: "silent" });
	await makeFinal(origin);
	aheadMs = 3 * usualMs.standard - 60_000;
	expect(await look(row)).toEqual({ kind: "wait", state: "sent", for: "Iris to see the burn" });
	aheadMs = 3 * usualMs.standard + 60_000;
	const stuck = await look(row);
	expect(stuck).toEqual({ kind: "stuck", state: "stuck", because: "Iris to see the burn" });
	const paged = await act(row, stuck);
	expect(await look(paged)).toMatchObject({ kind: "wait", state: "stuck" });
	iris.moodOf.delete(row.transactionHash);
	expect((await look(paged)).state).toBe("stuck");
	const { step } = await until(paged, "arrived");
	expect(step).toMatchObject({ received: amount });
});

test("an attestation that comes late is minted when it comes", async () => {
	const row = await burnMove({ mood: { lateMs: 3_600_000 } });
	await makeFinal(origin);
	aheadMs = 3_500_000;
	expect(await look({ ...row, state: "stuck" })).toMatchObject({ kind: "wait", state: "stuck" });
	aheadMs = 3_700_000;
	expect((await until({ ...row, state: "stuck" }, "arrived")).step).toMatchObject({ received: amount });
});

/** Changes one byte of a message. */
function changed(message: Hex, at: number): Hex {
	const byte = Number(slice(message, at, at + 1)) ^ 1;
	const rest = at + 1 < size(message) ? [slice(message, at + 1)] : [];
	return concat([...(at > 0 ? [slice(message, 0, at)] : []), numberToHex(byte, { size: 1 }), ...rest]);
}

test.each([
	["destinationDomain", 11],
	["burnToken", 148 + 35],
	["mintRecipient", 148 + 67],
	["amount", 148 + 99],
	["messageSender", 148 + 131],
])("an attestation of another %s fails the move by name, and is not minted", async (name, at) => {
	const before = await heldByVaults();
	const row = await burnMove({ mood: { wrong: (message) => changed(message, at) } });
	await makeFinal(origin);
	const step = await look(row);
	expect(step).toMatchObject({ kind: "failed", state: "failed", error: "wrong message" });
	expect(step).toHaveProperty("problem", expect.stringContaining(`its ${name} is`));
	expect((await heldByVaults())[1]).toBe(before[1]);
	expect(await look(await act(row, step))).toEqual({ kind: "wait", state: "failed", for: "nothing" });
});

test("signatures that Circle's contract refuses are not sent, and Iris is read again for the right ones", async () => {
	const row = await burnMove({ mood: "forged" });
	await makeFinal(origin);
	const waiting = await look(row);
	expect(waiting).toEqual({
		kind: "wait",
		state: "attested",
		for: "a mint that is not refused: Invalid signature: not attester",
	});
	iris.moodOf.delete(row.transactionHash);
	const step = await look(row);
	if (step.kind !== "send mint") throw new Error(`the step is to ${step.kind}`);
	const attestation = changed(step.attestation, 10);
	expect(await look({ ...row, attested: { message: step.message, attestation } })).toEqual(step);
});

test("a burn that Iris has lost is attested after a new request, and not before", async () => {
	const row = await burnMove({ maxFee: 200_000n, minFinalityThreshold: 1_000, mood: "lost" });
	await makeFinal(origin);
	expect(await look(row)).toMatchObject({ kind: "wait", state: "sent" });
	aheadMs = 2 * usualMs.fast + 5_000;
	const step = await look(row);
	expect(step).toMatchObject({ kind: "reattest", state: "sent" });
	const { kinds, step: arrived } = await until(await act(row, step), "arrived");
	expect(kinds).toEqual(["send mint", "arrived"]);
	expect(arrived).toMatchObject({ received: amount - 100_000n, fee: 100_000n });
});

test("a message that has expired is attested anew with the same nonce, once, and arrives", async () => {
	const row = await burnMove({ maxFee: 200_000n, minFinalityThreshold: 1_000, mood: "expired" });
	const step = await look(row);
	expect(step).toMatchObject({ kind: "reattest", state: "attested" });
	const asked = await act(row, step);
	// As a final one it waits for the final block.
	expect(await look(asked)).toMatchObject({ kind: "wait" });
	await makeFinal(origin);
	expect((await until(asked, "arrived")).step).toMatchObject({ received: amount - 100_000n });
});

test("a new attestation is requested no more often than it can be made", async () => {
	const row = await burnMove({ maxFee: 200_000n, minFinalityThreshold: 1_000, mood: "expired" });
	const step = await look(row);
	if (step.kind !== "reattest") throw new Error(`the step is to ${step.kind}`);
	const asked = { ...row, reattestedAtMs: clock() };
	expect(await look(asked)).toEqual({ kind: "wait", state: "attested", for: "a new attestation" });
	aheadMs = usualMs.standard + 1_000;
	expect(await look(asked)).toEqual(step);
});

test("a mint by a stranger is the arrival, and ours reverts beside it", async () => {
	const [, before] = (await heldByVaults()) as [bigint, bigint];
	const row = await burnMove();
	await makeFinal(origin);
	const step = await look(row);
	if (step.kind !== "send mint") throw new Error(`the step is to ${step.kind}`);
	const first = await mint(step, stranger);
	const hashes = [await mint(step, treasurer), await mint(step, treasurer)];
	for (const hash of hashes) {
		const { status } = await destination.chain.publicClient.getTransactionReceipt({ hash });
		expect(status).toBe("reverted");
	}
	expect((await heldByVaults())[1]).toBe(before + amount);
	expect(await look(row)).toMatchObject({ kind: "arrived", transactionHash: first, received: amount });
	expect(await look({ ...row, attested: step })).toMatchObject({ kind: "arrived", transactionHash: first });
});

test("each of several messages that one transaction has minted is found as its own", async () => {
	const rows = [];
	for (const moved of [amount, 2n * amount, 3n * amount]) rows.push(await burnMove({ moved }));
	await makeFinal(origin);
	const calls = [];
	for (const row of rows) {
		const step = await look(row);
		if (step.kind !== "send mint") throw new Error(`the step is to ${step.kind}`);
		calls.push({ to: destination.messageTransmitter, data: encodeFunctionData(mintCall(destination, step)) });
	}
	await callMany(destination.chain, stranger, calls);
	for (const row of rows) {
		expect(await look(row)).toMatchObject({ kind: "arrived", received: row.burn.amount });
	}
});

test("the mint of an earlier burn with the same terms is not taken for a later one's", async () => {
	const earlier = await burnMove();
	await makeFinal(origin);
	const step = await look(earlier);
	if (step.kind !== "send mint") throw new Error(`the step is to ${step.kind}`);
	await mint(step, treasurer);
	await makeFinal(destination);
	// Iris answers with the earlier burn's attested message.
	const later = await burnMove({ mood: { wrong: () => step.message } });
	await makeFinal(origin);
	expect(await look(later)).toMatchObject({ kind: "wait", for: "the event of the mint" });
	expect(await look(later, [step.nonce])).toMatchObject({ kind: "failed", error: "wrong message" });
});

test.each(["hung", "failing", "garbage", "endless", "limited"] as const)(
	"while Iris is %s, a move waits, and goes on afterwards",
	async (service) => {
		const row = await burnMove();
		await makeFinal(origin);
		iris.service = service;
		const step = await look(row);
		expect(step).toMatchObject({ kind: "wait", state: "sent" });
		if (service === "limited") expect(step).toMatchObject({ forMs: 7_000 });
		iris.service = "up";
		expect((await until(row, "arrived")).step).toMatchObject({ received: amount });
	},
);

test("a mint that the chain drops is made again", async () => {
	const row = await burnMove();
	await makeFinal(origin);
	const snapshot = await destination.chain.testClient.snapshot();
	const { row: minted, step } = await until(row, "arrived");
	const arrived = await act(minted, step);
	await destination.chain.testClient.revert({ id: snapshot });
	const { kind, state } = await look(arrived);
	expect({ kind, state }).toEqual({ kind: "send mint", state: "attested" });
	const again = await until(arrived, "arrived");
	expect(again.kinds).toEqual(["send mint", "arrived"]);
	expect(again.step).toMatchObject({ received: amount });
});

test("a burn that the chain has not, or that reverted, mints nothing", async () => {
	const row = await burnMove();
	const { transactionHash: _, ...unsigned } = row;
	expect(await look(unsigned)).toMatchObject({ kind: "wait", state: "queued" });
	expect(await look({ ...row, transactionHash: bytesToHex(randomBytes(32)) })).toMatchObject({
		kind: "wait",
		state: "queued",
	});
	// The chain knows the move, so that the same move a second time reverts.
	const { settlementToken } = origin.chain.deployment;
	const again = await send(origin.chain, treasurer, {
		to: row.vault,
		data: encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "bridge",
			args: [row.moveId, settlementToken, row.burn.route, amount, "0x"],
		}),
	});
	expect(await look({ ...row, transactionHash: again })).toMatchObject({
		kind: "failed",
		error: "burn reverted",
	});
});

test("a process killed after any step, before or after its row is written, moves the same amount once", async () => {
	const before = (await heldByVaults()) as [bigint, bigint];
	let moves = 0;
	let isDone = false;
	// The n-th run is killed after its n-th action, whose row is lost.
	for (let kill = 0; !isDone; kill++) {
		const row = await burnMove({ maxFee: 200_000n, minFinalityThreshold: 1_000, mood: "expired" });
		moves++;
		let current: CctpMoveRow = row;
		let hasBeenKilled = false;
		for (let i = 0; current.state !== "final"; i++) {
			if (i > 20) throw new Error(`the move killed after step ${kill} does not end: ${current.state}`);
			const written = await act(current, await look(current));
			if (i === kill) hasBeenKilled = true;
			else current = written;
			await makeFinal(origin);
			await makeFinal(destination);
		}
		isDone = !hasBeenKilled;
	}
	expect(moves).toBeGreaterThan(3);
	const after = (await heldByVaults()) as [bigint, bigint];
	expect(before[0] - after[0]).toBe(BigInt(moves) * amount);
	expect(after[1] - before[1]).toBe(BigInt(moves) * (amount - 100_000n));
});
