import { type SolanaAddress, solanaNativeToken, tokenAccountOf, toSolanaWord } from "@geoswap/protocol";
import {
	AccountRole,
	appendTransactionMessageInstructions,
	type Blockhash,
	compileTransaction,
	createTransactionMessage,
	getTransactionEncoder,
	pipe,
	setTransactionMessageFeePayer,
	setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import { toHex } from "viem";
import { afterEach, expect, test } from "vitest";
import { mintsOfScene, solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import { type StubSolanaRpc, startStubSolanaRpc } from "../../../../test/solana/stub-solana-rpc.ts";
import { connectSolana } from "../connect-solana.ts";
import { readLanded, receivedBy } from "./read-landed.ts";

let stub: StubSolanaRpc;
afterEach(() => stub?.stop());

const signature = toHex(1, { size: 64 });
const program = "Stake11111111111111111111111111111111111111" as SolanaAddress;
const table = "AddressLookupTab1e1111111111111111111111111" as SolanaAddress;
const native = toSolanaWord(solanaNativeToken);

test("accounts from a lookup table are resolved, with their balances", async () => {
	const scene = await solanaOrderScene();
	const owner = scene.stranger.address;
	const account = await tokenAccountOf({ owner, token: mintsOfScene.usdc });
	const feePayer = scene.wallet.address;
	const landed = await read({
		wire: lookingUp({ feePayer, addresses: [account, owner] }),
		meta: {
			...quiet,
			preBalances: [100_000, 1, 50, 9],
			postBalances: [94_000, 1, 50, 10],
			postTokenBalances: [held(2, owner, mintsOfScene.usdc, 700n)],
			loadedAddresses: { writable: [account], readonly: [owner] },
		},
	});
	expect(landed?.message).toEqual({
		feePayer,
		signers: [feePayer],
		instructions: [{ program, accounts: [account, owner], data: new Uint8Array([7]) }],
	});
	if (!landed) throw new Error("it landed");
	// The account was created in this transaction.
	expect(await receivedBy(landed, { owner, token: toSolanaWord(mintsOfScene.usdc) })).toBe(700n);
	expect(await receivedBy(landed, { owner, token: native })).toBe(1n);
	// The fee payer paid 5,000 for the transaction and gave 1,000 away.
	expect(await receivedBy(landed, { owner: feePayer, token: native })).toBe(-1_000n);
});

test("an account that was emptied and closed counts as having given all that it held", async () => {
	const scene = await solanaOrderScene();
	const owner = scene.stranger.address;
	const account = await tokenAccountOf({ owner, token: mintsOfScene.usdc });
	const landed = await read({
		wire: lookingUp({ feePayer: scene.wallet.address, addresses: [account, owner] }),
		meta: {
			...quiet,
			preBalances: [100_000, 1, 50, 9],
			postBalances: [95_000, 1, 0, 59],
			preTokenBalances: [held(2, owner, mintsOfScene.usdc, 2n ** 63n)],
			loadedAddresses: { writable: [account], readonly: [owner] },
		},
	});
	if (!landed) throw new Error("it landed");
	expect(await receivedBy(landed, { owner, token: toSolanaWord(mintsOfScene.usdc) })).toBe(-(2n ** 63n));
});

test("an unknown transaction is read as undefined", async () => {
	stub = await startStubSolanaRpc(() => ({ result: null }));
	expect(await readLanded(await connected(), signature, "finalized")).toBeUndefined();
	expect(stub.calls[0]).toMatchObject({
		method: "getTransaction",
		params: [expect.any(String), { encoding: "base64", maxSupportedTransactionVersion: 1 }],
	});
});

test("a transaction with missing or incomplete metadata is an error, and not one that changed nothing", async () => {
	const { wallet, stranger } = await solanaOrderScene();
	const wire = lookingUp({ feePayer: wallet.address, addresses: [stranger.address, stranger.address] });
	await expect(read({ wire, meta: null })).rejects.toThrow("no record");
	await stub.stop();
	await expect(read({ wire, meta: { ...quiet, preBalances: [1], postBalances: [1] } })).rejects.toThrow();
});

const quiet = {
	err: null,
	fee: 5_000,
	innerInstructions: [],
	logMessages: [],
	preTokenBalances: [],
	postTokenBalances: [],
	rewards: [],
	status: { Ok: null },
};

function held(accountIndex: number, owner: SolanaAddress, mint: SolanaAddress, amount: bigint) {
	return {
		accountIndex,
		mint,
		owner,
		programId: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
		uiTokenAmount: { amount: String(amount), decimals: 6, uiAmount: null, uiAmountString: "0" },
	};
}

/** One instruction, whose two accounts come from a table. */
function lookingUp({
	feePayer,
	addresses,
}: {
	feePayer: SolanaAddress;
	addresses: [SolanaAddress, SolanaAddress];
}) {
	const accounts = addresses.map((address, addressIndex) => ({
		address,
		addressIndex,
		lookupTableAddress: table,
		role: addressIndex === 0 ? (AccountRole.WRITABLE as const) : (AccountRole.READONLY as const),
	}));
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayer(feePayer, empty),
		(paid) =>
			setTransactionMessageLifetimeUsingBlockhash(
				{ blockhash: table as string as Blockhash, lastValidBlockHeight: 0n },
				paid,
			),
		(living) =>
			appendTransactionMessageInstructions(
				[{ programAddress: program, accounts, data: new Uint8Array([7]) }],
				living,
			),
	);
	return Buffer.from(getTransactionEncoder().encode(compileTransaction(message))).toString("base64");
}

async function read({ wire, meta }: { wire: string; meta: unknown }) {
	stub = await startStubSolanaRpc(() => ({
		result: { slot: 5, blockTime: 1, version: 0, transaction: [wire, "base64"], meta },
	}));
	return readLanded(await connected(), signature);
}

async function connected() {
	const { deployment } = await solanaOrderScene();
	return connectSolana({ rpcUrl: stub.rpcUrl, deployment });
}
