import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
	type AttestationKind,
	type AttesterSet,
	attesterSetHash,
	closeOrder,
	createVault,
	decideOrders,
	fundOrder,
	type Order,
	openOrder,
	orderId,
	packDeadlines,
	payOrder,
	prepareOrder,
	setVaultCap,
	setVaultRoles,
	solanaNativeToken,
	toSolanaWord,
	vaultAddress,
} from "@geoswap/protocol";
import {
	type Address,
	appendTransactionMessageInstructions,
	createTransactionMessage,
	generateKeyPairSigner,
	getTransactionEncoder,
	type Instruction,
	type KeyPairSigner,
	lamports,
	pipe,
	setTransactionMessageFeePayerSigner,
	signTransactionMessageWithSigners,
} from "@solana/kit";
import { getCreateAccountInstruction } from "@solana-program/system";
import {
	getCreateAssociatedTokenIdempotentInstructionAsync,
	getInitializeMint2Instruction,
	getMintToInstruction,
	getTokenDecoder,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { FailedTransactionMetadata, LiteSVM } from "litesvm";
import { bytesToHex, type Hex, toHex, zeroHash } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { errorCodes } from "./error-codes.ts";
import { digestOf, signAll, tokensOf } from "./test-helpers.ts";

/** `PROGRAM` names another build to test, such as one with a planted bug, or one by Solana's own tools. */
export const programFile = process.env.PROGRAM ?? join(import.meta.dirname, "../geo_escrow.so");
export const native = zeroHash;

/** The word of an address on an EVM chain. */
export function evmWord(byte: string): Hex {
	return `0x${"00".repeat(12)}${byte.repeat(20)}`;
}

export type Sent = {
	/** The name of the program's error, another program's text, or undefined if the transaction succeeded. */
	error: string | undefined;
	units: number;
	bytes: number;
	/** The events of the program, each as its fields. */
	events: Buffer[][];
	logs: string[];
};

export function createAttesters(threshold: number, count: number): { set: AttesterSet; keys: Hex[] } {
	const keys = Array.from({ length: count }, generatePrivateKey);
	const attesters = keys
		.map((key) => privateKeyToAccount(key).address)
		.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
	return { keys, set: { threshold, attesters } };
}

export type Scene = Awaited<ReturnType<typeof createScene>>;

/** Creates a chain with the program, two tokens, a wallet, a recipient, a vault with inventory, and attesters. */
export async function createScene({ threshold = 2, count = 3 }: { threshold?: number; count?: number } = {}) {
	const svm = new LiteSVM().withNativeMints();
	const [payer, wallet, recipient, thief] = await newSigners(4);
	const [owner, operator, guardian] = await newSigners(3);
	const [mint, otherMint, { address: program }] = await newSigners(3);
	svm.addProgram(program, new Uint8Array(readFileSync(programFile)));
	for (const { address } of [payer, thief]) svm.airdrop(address, lamports(100_000_000_000n));
	const vault = await vaultAddress(program, owner.address);
	const owned = { program, vault, owner };
	/** Ids of orders in the events of fills that landed. */
	const filled = new Set<Hex>();
	const start = 1_800_000_000n;
	setTime(start);

	function setTime(unixTimestamp: bigint): void {
		const clock = svm.getClock();
		clock.unixTimestamp = unixTimestamp;
		svm.setClock(clock);
	}

	async function send(instructions: readonly Instruction[], feePayer = payer): Promise<Sent> {
		svm.expireBlockhash();
		const message = pipe(
			createTransactionMessage({ version: 0 }),
			(empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
			(paid) => svm.setTransactionMessageLifetimeUsingLatestBlockhash(paid),
			(living) => appendTransactionMessageInstructions(instructions, living),
		);
		const signed = await signTransactionMessageWithSigners(message);
		const result = svm.sendTransaction(signed as never);
		const isFailed = result instanceof FailedTransactionMetadata;
		const meta = isFailed ? result.meta() : result;
		const events = isFailed ? [] : meta.logs().flatMap(eventOf);
		for (const [name, id] of events) if (String(name) === "filled" && id) filled.add(bytesToHex(id));
		return {
			error: isFailed ? errorOf(result, program) : undefined,
			units: Number(meta.computeUnitsConsumed()),
			bytes: getTransactionEncoder().encode(signed).length,
			events,
			logs: meta.logs(),
		};
	}

	/** Sends instructions that must succeed. */
	async function act(...instructions: Instruction[]): Promise<Sent> {
		const sent = await send(instructions);
		if (sent.error) throw new Error(sent.error);
		return sent;
	}

	function createTokenAccount(of: Address, token = mint.address): Promise<Instruction> {
		return getCreateAssociatedTokenIdempotentInstructionAsync({ payer, owner: of, mint: token });
	}

	async function createMint(token: KeyPairSigner): Promise<void> {
		const rent = svm.minimumBalanceForRentExemption(82n);
		const place = { lamports: rent, space: 82, programAddress: TOKEN_PROGRAM_ADDRESS };
		const authorities = { mintAuthority: payer.address, freezeAuthority: payer.address };
		await act(
			getCreateAccountInstruction({ payer, newAccount: token, ...place }),
			getInitializeMint2Instruction({ mint: token.address, decimals: 6, ...authorities }),
		);
	}

	async function mintTo(of: Address, amount: bigint, token = mint.address): Promise<Instruction> {
		const account = await tokensOf(of, token);
		return getMintToInstruction({ mint: token, token: account, mintAuthority: payer, amount });
	}

	await createMint(mint);
	await createMint(otherMint);
	for (const { address } of [wallet, recipient, thief]) await act(await createTokenAccount(address));
	await act(await createTokenAccount(vault), await createTokenAccount(vault, otherMint.address));
	await act(
		await mintTo(wallet.address, 1_000_000n),
		await mintTo(vault, 1_000_000_000n),
		await mintTo(vault, 1_000_000_000n, otherMint.address),
	);
	await act(await createVault(program, { payer, owner }));
	const roles = { guardian: guardian.address, operators: [operator.address] };
	await act(setVaultRoles(owned, roles));
	await act(
		setVaultCap(owned, mint.address, 10_000_000n),
		setVaultCap(owned, solanaNativeToken, 5_000_000_000n),
	);
	svm.airdrop(vault, lamports(20_000_000_000n));

	const { set, keys } = createAttesters(threshold, count);
	let swaps = 0n;
	const deadlines = packDeadlines({
		openDeadline: start + 60n,
		fillDeadline: start + 3_600n,
		refundAfter: start + 90_000n,
	});

	/** Returns an order of 1,000 units of the token from Solana to an EVM chain. */
	function orderFrom(terms: Partial<Order> = {}): Order {
		swaps += 1n;
		return {
			wallet: toSolanaWord(wallet.address),
			inputToken: toSolanaWord(mint.address),
			inputAmount: 1_000n,
			originChainId: 792_703_809n,
			destinationChainId: 8_453n,
			outputToken: evmWord("bb"),
			minOutput: 900n,
			recipient: evmWord("cc"),
			topUp: 0n,
			escrow: toSolanaWord(program),
			originVault: toSolanaWord(vault),
			destinationVault: evmWord("dd"),
			attesterSet: attesterSetHash(set),
			swapKey: toHex(swaps, { size: 32 }),
			deadlines,
			...terms,
		};
	}

	/** Returns an order from an EVM chain to at least 900 units of the token on Solana. */
	function orderTo(terms: Partial<Order> = {}): Order {
		return orderFrom({
			wallet: evmWord("aa"),
			inputToken: evmWord("bb"),
			originChainId: 8_453n,
			destinationChainId: 792_703_809n,
			outputToken: toSolanaWord(mint.address),
			recipient: toSolanaWord(recipient.address),
			escrow: evmWord("ee"),
			originVault: evmWord("dd"),
			destinationVault: toSolanaWord(vault),
			...terms,
		});
	}

	/** Returns an order that begins and ends on Solana. */
	function orderWithin(terms: Partial<Order> = {}): Order {
		return orderFrom({
			destinationChainId: 792_703_809n,
			outputToken: toSolanaWord(mint.address),
			recipient: toSolanaWord(recipient.address),
			destinationVault: toSolanaWord(vault),
			...terms,
		});
	}

	/** Returns the wallet's own transfer to an order. */
	function funding(
		order: Order,
		amount = order.inputAmount,
		by: KeyPairSigner = wallet,
	): Promise<Instruction> {
		return fundOrder(program, order, { wallet: by, decimals: 6, amount });
	}

	/** Returns the three instructions that open an order. */
	async function opening(order: Order, by: KeyPairSigner = wallet): Promise<Instruction[]> {
		return [
			await prepareOrder(program, order, payer),
			await funding(order, order.inputAmount, by),
			await openOrder(program, order),
		];
	}

	async function opened(terms: Partial<Order> = {}): Promise<Order> {
		const order = orderFrom(terms);
		await act(...(await opening(order)));
		return order;
	}

	async function decision(
		kind: AttestationKind,
		orders: readonly Order[],
		by: readonly Hex[] = keys.slice(0, threshold),
	): Promise<Instruction> {
		const orderIds = orders.map(orderId);
		const signatures = await signAll(digestOf(program, kind, orderIds), by);
		return decideOrders(program, kind, { orderIds, set, signatures });
	}

	function payTo(to: "vault" | "wallet", order: Order): Promise<Instruction> {
		return payOrder(program, order, { to });
	}

	function closing(order: Order): Promise<Instruction> {
		return closeOrder(program, orderId(order), payer.address);
	}

	async function tokens(of: Address, token = mint.address): Promise<bigint> {
		return tokensIn(await tokensOf(of, token));
	}

	function tokensIn(address: Address): bigint {
		const account = svm.getAccount(address);
		return account.exists ? getTokenDecoder().decode(account.data).amount : 0n;
	}

	/** Returns true if a fill of the order has landed. */
	function wasFilled(id: Hex): boolean {
		return filled.has(id);
	}

	function balance(of: Address): bigint {
		return svm.getBalance(of) ?? 0n;
	}

	return {
		svm,
		program,
		payer,
		wallet,
		recipient,
		thief,
		owner,
		operator,
		guardian,
		mint,
		otherMint,
		vault,
		owned,
		start,
		set,
		keys,
		setTime,
		send,
		act,
		createTokenAccount,
		mintTo,
		orderFrom,
		orderTo,
		orderWithin,
		funding,
		opening,
		opened,
		decision,
		payTo,
		closing,
		tokens,
		tokensIn,
		balance,
		wasFilled,
	};
}

async function newSigners<N extends number>(count: N): Promise<Tuple<KeyPairSigner, N>> {
	return (await Promise.all(
		Array.from({ length: count }, () => generateKeyPairSigner()),
	)) as unknown as Tuple<KeyPairSigner, N>;
}

type Tuple<T, N extends number, List extends T[] = []> = List["length"] extends N
	? List
	: Tuple<T, N, [...List, T]>;

function errorOf(failed: FailedTransactionMetadata, program: Address): string {
	// The program that failed first is the innermost one, which the tested program may have called.
	const first =
		failed
			.meta()
			.logs()
			.find((line) => line.includes(" failed: ")) ?? failed.toString();
	const code = new RegExp(`${program} failed: custom program error: 0x([0-9a-f]+)`).exec(first)?.[1];
	const number = code === undefined ? undefined : Number.parseInt(code, 16);
	return [...errorCodes].find(([, one]) => one === number)?.[0] ?? first.slice(0, 400);
}

function eventOf(line: string): Buffer[][] {
	const [, fields] = /^Program data: (.*)$/.exec(line) ?? [];
	return fields === undefined ? [] : [fields.split(" ").map((field) => Buffer.from(field, "base64"))];
}
