import { randomBytes } from "node:crypto";
import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import {
	markerAddress,
	markerSeed,
	memoProgramAddress,
	newSwapUuid,
	type Order,
	orderId,
	packDeadlines,
	solanaChainId,
	tokenAccountRentLamports,
	tokenAccountSize,
	toSolanaWord,
	toSwapKey,
	transferInstruction,
} from "@geoswap/protocol";
import { ReceiptError, verifyReceipt } from "@geoswap/sdk/receipt";
import {
	type Address,
	createKeyPairSignerFromBytes,
	createSolanaRpc,
	generateKeyPairSigner,
	type Instruction,
	type KeyPairSigner,
} from "@solana/kit";
import { getAllocateWithSeedInstruction, getTransferSolInstruction } from "@solana-program/system";
import { getInitializeAccount3Instruction, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { zeroHash } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signSolana } from "../solana/sign-solana.ts";
import { type ReceiptClaim, signReceipt } from "../wallet/sign-receipt.ts";

const key = privateKeyToAccount(generatePrivateKey());
const amount = 5_000_000n;
const wrappedSol = "So11111111111111111111111111111111111111112" as Address;

let solana: TestSolana;
let vault: KeyPairSigner;
let escrow: KeyPairSigner;
let feePayer: KeyPairSigner;
let wallet: KeyPairSigner;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 100 });
	const signer = (bytes: Uint8Array | undefined) => createKeyPairSignerFromBytes(bytes ?? new Uint8Array());
	vault = await signer(solana.keys.vault);
	escrow = await signer(solana.keys.escrow);
	feePayer = await signer(solana.keys.feePayers[0]);
	wallet = await generateKeyPairSigner();
	for (const { address: owner } of [wallet, vault, escrow]) {
		await solana.admin.mintTo({ owner, token: usdc(), amount: 100_000_000n });
	}
});
afterAll(() => solana?.stop());

test("a payment that makes the markers of two orders is shown for neither, and one that makes one is shown for it alone", async () => {
	const [one, other] = [makeOrder(), makeOrder()];
	const both = await land([await pay(vault), ...(await mark(one)), ...(await mark(other))]);
	for (const order of [one, other]) expect(await settled(order, both)).toBe("deliveryTxHash");
	const [paid, unpaid] = [makeOrder(), makeOrder()];
	const honest = await land([await pay(vault), ...(await mark(paid))]);
	expect(await settled(paid, honest)).toBe("verified");
	expect(await settled(unpaid, honest)).toBe("deliveryTxHash");
});

test("a payment beside a marker that closes the order for its wallet is not its delivery", async () => {
	const order = makeOrder();
	const hash = await land([await pay(vault), ...(await mark(order, escrow.address))]);
	expect(await settled(order, hash)).toBe("deliveryTxHash");
});

test("a deposit that names two orders is shown for neither", async () => {
	const [one, other, honest] = [makeOrder(), makeOrder(), makeOrder()];
	const deposit = await transferInstruction(solana.deployment, {
		from: wallet,
		to: escrow.address,
		token: toSolanaWord(usdc()),
		amount,
	});
	const both = await land([deposit, memo(one), memo(other)]);
	for (const order of [one, other]) expect(await refunded(order, both)).toBe("originTxHash");
	expect(await refunded(honest, await land([deposit, memo(honest)]))).toBe("verified");
});

function usdc(): Address {
	return solana.deployment.settlementToken as Address;
}

/** Returns an order within Solana from the wallet to itself. */
function makeOrder(): Order {
	const now = BigInt(Math.floor(Date.now() / 1_000));
	const token = toSolanaWord(usdc());
	return {
		originChainId: BigInt(solanaChainId),
		destinationChainId: BigInt(solanaChainId),
		escrow: toSolanaWord(escrow.address),
		originVault: toSolanaWord(vault.address),
		destinationVault: toSolanaWord(vault.address),
		attesterSet: zeroHash,
		wallet: toSolanaWord(wallet.address),
		inputToken: token,
		inputAmount: amount,
		outputToken: token,
		minOutput: 1n,
		topUp: 0n,
		recipient: toSolanaWord(wallet.address),
		swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
		deadlines: packDeadlines({ openDeadline: now + 60n, fillDeadline: now + 120n, refundAfter: now + 180n }),
	};
}

function pay(from: KeyPairSigner): Promise<Instruction> {
	const token = toSolanaWord(usdc());
	return transferInstruction(solana.deployment, { from, to: wallet.address, token, amount });
}

function memo(order: Order): Instruction {
	return { programAddress: memoProgramAddress as Address, data: new TextEncoder().encode(orderId(order)) };
}

async function mark(order: Order, owner: Address = vault.address): Promise<Instruction[]> {
	const id = orderId(order);
	const marker = await markerAddress({ base: vault.address, orderId: id });
	return [
		getTransferSolInstruction({ source: feePayer, destination: marker, amount: tokenAccountRentLamports }),
		getAllocateWithSeedInstruction({
			newAccount: marker,
			baseAccount: vault,
			base: vault.address,
			seed: markerSeed(id),
			space: tokenAccountSize,
			programAddress: TOKEN_PROGRAM_ADDRESS,
		}),
		getInitializeAccount3Instruction({ account: marker, mint: wrappedSol, owner }),
	];
}

async function land(instructions: Instruction[]): Promise<string> {
	const rpc = createSolanaRpc(solana.rpcUrl);
	const { signature, wire } = await signSolana({ rpc }, { feePayer, instructions });
	await rpc.sendTransaction(wire, { encoding: "base64" }).send();
	await solana.admin.warp({ slots: 40 });
	const { value } = await rpc.getSignatureStatuses([signature]).send();
	expect(value).toMatchObject([{ err: null, confirmationStatus: "finalized" }]);
	return signature;
}

function settled(order: Order, deliveryTxHash: string): Promise<string> {
	return verify(order, { status: "settled", deliveryTxHash, deliveredAmount: String(amount) });
}

/** Verifies a receipt of a refund that is true, so that only the deposit can be wrong. */
async function refunded(order: Order, originTxHash: string): Promise<string> {
	const refundTxHash = await land([await pay(escrow), ...(await mark(order, escrow.address))]);
	return verify(order, { status: "refunded", originTxHash, refundTxHash });
}

/** Signs the claim as the operator, and returns "verified", or the field for which the receipt is refused. */
async function verify(order: Order, claim: ReceiptClaim) {
	const pins = { chains: [], solana: solana.deployment, receiptSigners: [key.address] };
	const rpcUrls = { [solanaChainId]: solana.rpcUrl };
	return verifyReceipt(await signReceipt(key, order, claim), { pins, rpcUrls }).then(
		() => "verified",
		(error: unknown) => {
			if (error instanceof ReceiptError) return error.field;
			throw error;
		},
	);
}
