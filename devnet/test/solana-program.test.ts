import {
	attestationDigest,
	attestationMessage,
	closeOrder,
	createVault,
	decideOrders,
	decodeOrderAccount,
	expireOrder,
	type Order,
	openTransaction,
	orderAddress,
	orderId,
	type ProgramDeployment,
	packDeadlines,
	payOrder,
	type SolanaAddress,
	setVaultCap,
	setVaultRoles,
	solanaChainId,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	appendTransactionMessageInstructions,
	createTransactionMessage,
	getBase64EncodedWireTransaction,
	getBase64Encoder,
	getTransactionDecoder,
	lamports,
	partiallySignTransaction,
	pipe,
	setTransactionMessageFeePayerSigner,
	signTransactionMessageWithSigners,
} from "@solana/kit";
import { FailedTransactionMetadata } from "litesvm";
import { type Hex, toHex, zeroHash } from "viem";
import { sign } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveDevnetKeys, startTestSolana, type TestSolana } from "../src/index.ts";
import { genesisAccounts } from "../src/solana/genesis-accounts.ts";
import { solanaDevnetAssets } from "../src/solana/solana-devnet-assets.ts";
import { solanaMachine } from "../src/solana/solana-machine.ts";
import { type SolanaClient, solanaClient } from "./solana-client.ts";

let solana: TestSolana;
let client: SolanaClient;
let deployment: ProgramDeployment;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 50 });
	client = await solanaClient(solana);
	deployment = solana.deployment.program;
});
afterAll(() => solana?.stop());

let swaps = 0;
/** The seconds by which the chain's clock is ahead. */
let ahead = 0;

async function passTime(seconds: number): Promise<void> {
	ahead += seconds;
	await solana.admin.passTime({ seconds });
}

/** Returns an order of the wallet's, from Solana to an EVM chain. */
function orderOf(terms: Partial<Order> = {}): Order {
	const now = BigInt(Math.floor(Date.now() / 1_000) + ahead);
	swaps += 1;
	return {
		wallet: toSolanaWord(client.wallet.address),
		inputToken: toSolanaWord(solana.deployment.settlementToken),
		inputAmount: 1_000_000n,
		originChainId: BigInt(solanaChainId),
		destinationChainId: 31_337n,
		outputToken: zeroHash,
		minOutput: 1n,
		recipient: toHex(7n, { size: 32 }),
		topUp: 0n,
		escrow: toSolanaWord(deployment.address),
		originVault: toSolanaWord(deployment.vault),
		destinationVault: toHex(8n, { size: 32 }),
		attesterSet: deployment.attesterSet.hash,
		swapKey: toHex(swaps, { size: 32 }),
		deadlines: packDeadlines({
			openDeadline: now + 60n,
			fillDeadline: now + 120n,
			refundAfter: now + 7_200n,
		}),
		...terms,
	};
}

/** Opens an order as a client of the interface does. The wallet signs the built bytes, then the fee payer signs. */
async function open(order: Order): Promise<Uint8Array> {
	const { blockhash } = await client.latest();
	const { unsigned } = await openTransaction(solana.deployment, order, {
		feePayer: client.payer.address,
		blockhash,
		compute: { unitLimit: 100_000, microLamportsPerUnit: 0n },
	});
	const transaction = await partiallySignTransaction(
		[client.wallet.keyPair, client.payer.keyPair],
		getTransactionDecoder().decode(unsigned),
	);
	const signature = await client.send(getBase64EncodedWireTransaction(transaction));
	await expect
		.poll(() => client.statusOf(signature))
		.toMatchObject({ confirmationStatus: "confirmed", err: null });
	return unsigned;
}

async function readOrder(order: Order, commitment: "confirmed" | "finalized" = "confirmed") {
	const address = await orderAddress(deployment.address, orderId(order));
	const { value } = await client.rpc.getAccountInfo(address, { commitment, encoding: "base64" }).send();
	if (!value) return undefined;
	expect(value.owner).toBe(deployment.address);
	return decodeOrderAccount(new Uint8Array(getBase64Encoder().encode(value.data[0])));
}

async function lamportsOf(address: SolanaAddress): Promise<bigint> {
	return (await client.rpc.getBalance(address, { commitment: "confirmed" }).send()).value;
}

test("the chain begins with a vault identical to one that the program itself creates", async () => {
	const machine = solanaMachine();
	const [payer, owner, operator] = await Promise.all(
		[solana.keys.feePayers[0], solana.keys.vaultOwner, solana.keys.operator].map(client.signerOf),
	);
	if (!payer || !owner || !operator) throw new Error("keys are missing");
	machine.airdrop(payer.address, lamports(1_000_000_000n));
	const clock = machine.getClock();
	clock.unixTimestamp = 3_600n;
	machine.setClock(clock);
	const owned = { program: deployment.address, vault: deployment.vault, owner };
	const genesis = (await genesisAccounts()).find(({ address }) => address === deployment.vault);
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayerSigner(payer, empty),
		(paid) => machine.setTransactionMessageLifetimeUsingLatestBlockhash(paid),
		async (living) =>
			appendTransactionMessageInstructions(
				[
					await createVault(deployment.address, { payer, owner }),
					setVaultRoles(owned, { operators: [operator.address] }),
					...solanaDevnetAssets.map(({ address, kind, decimals }) =>
						setVaultCap(owned, address, (kind === "stable" ? 1_000_000n : 10_000n) * 10n ** BigInt(decimals)),
					),
				],
				living,
			),
	);
	const result = machine.sendTransaction((await signTransactionMessageWithSigners(await message)) as never);
	expect(result, String(result)).not.toBeInstanceOf(FailedTransactionMetadata);
	const written = machine.getAccount(deployment.vault);
	if (!written.exists) throw new Error("the vault was not created");
	expect(genesis?.data).toEqual(written.data);
	expect(genesis?.lamports).toBe(written.lamports + 20_000n * 1_000_000_000n);
});

test("a wallet without SOL opens an order, attesters refund it, and its whole input and rent come back", async () => {
	const order = orderOf();
	const paidBefore = await lamportsOf(client.payer.address);
	const unsigned = await open(order);
	expect(unsigned.length).toBeLessThanOrEqual(900);
	expect(await readOrder(order)).toMatchObject({ state: "opened", wallet: client.wallet.address });
	expect(await lamportsOf(client.wallet.address)).toBe(0n);
	const hash = attestationDigest(attestationMessage("Refund", [order]));
	const keys = deriveDevnetKeys().attesters.slice(0, 2);
	const signatures = await Promise.all(
		keys.map((privateKey): Promise<Hex> => sign({ hash, privateKey, to: "hex" })),
	);
	const set = deployment.attesterSet;
	await client.land(
		[await decideOrders(deployment.address, "Refund", { orderIds: [orderId(order)], set, signatures })],
		{ unitLimit: 200_000 },
	);
	await client.land([await payOrder(deployment.address, order, { to: "wallet" })]);
	expect(await readOrder(order)).toMatchObject({ state: "refunded", isPaid: true });
	await passTime(100);
	await client.land([await closeOrder(deployment.address, orderId(order), client.payer.address)]);
	expect(await readOrder(order)).toBeUndefined();
	// Two signatures of the opening, and one each for deciding, paying and closing.
	expect(paidBefore - (await lamportsOf(client.payer.address))).toBe(5n * 5_000n);
});

test("a fork undoes an opening, and once the refund time has passed, any caller can refund an order", async () => {
	const order = orderOf({ inputToken: toSolanaWord(solanaNativeToken), inputAmount: 5_000_000n });
	await solana.admin.airdrop({ address: client.wallet.address, lamports: 10_000_000n });
	await open(order);
	await solana.admin.fork({ depth: 10 });
	await expect.poll(() => readOrder(order)).toBeUndefined();
	expect(await lamportsOf(client.wallet.address)).toBe(10_000_000n);

	const again = orderOf({ inputToken: order.inputToken, inputAmount: order.inputAmount });
	await open(again);
	const expire = await expireOrder(deployment.address, orderId(again));
	const byStranger = { payer: client.stranger };
	expect((await client.land([expire], byStranger)).status.err).not.toBeNull();
	await passTime(7_300);
	const pay = await payOrder(deployment.address, again, { to: "wallet" });
	expect((await client.land([expire, pay], byStranger)).status.err).toBeNull();
	expect(await lamportsOf(client.wallet.address)).toBe(10_000_000n);
});
