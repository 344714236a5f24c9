import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import {
	formatDeployment,
	type Order,
	openTransaction,
	type ProgramDeployment,
	packDeadlines,
	prepareOrder,
	type SolanaAddress,
	solanaChainId,
	solanaNativeToken,
	tokenAccountOf,
	tokenAccountRentLamports,
	toSolanaWord,
	transferInstruction,
} from "@geoswap/protocol";
import {
	appendTransactionMessageInstructions,
	createKeyPairSignerFromBytes,
	createSolanaRpc,
	createTransactionMessage,
	getBase58Decoder,
	getBase64EncodedWireTransaction,
	getSignatureFromTransaction,
	getTransactionDecoder,
	type Instruction,
	type KeyPairSigner,
	partiallySignTransaction,
	pipe,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
	type Transaction,
} from "@solana/kit";
import { getCreateAccountInstruction } from "@solana-program/system";
import {
	AuthorityType,
	getCloseAccountInstruction,
	getInitializeAccount3Instruction,
	getSetAuthorityInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { toHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";

/** Each step starts a process, on a machine that runs other tests too. */
const timeout = 300_000;
const main = new URL("../../packages/cli/src/main.ts", import.meta.url).pathname;

// One chain, and no process of the service.
let solana: TestSolana;
let program: ProgramDeployment;
let feePayer: KeyPairSigner;
let folder: string;
let secondsAhead = 0;
let swaps = 0n;

beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 50 });
	if (!solana.deployment.program) throw new Error("the devnet has the program");
	program = solana.deployment.program;
	feePayer = await createKeyPairSignerFromBytes(solana.keys.feePayers[0] ?? new Uint8Array());
	folder = mkdtempSync(join(tmpdir(), "geoswap-rescue-solana-"));
	await configure(program);
}, timeout);
afterAll(async () => {
	await solana?.stop();
	rmSync(folder, { recursive: true, force: true });
});

/** Writes the deployment file with this program, and the command's configuration. */
async function configure(pinned: ProgramDeployment): Promise<void> {
	const file = join(folder, "deployment.json");
	writeFileSync(file, formatDeployment({ chains: [], solana: { ...solana.deployment, program: pinned } }));
	const hash = createHash("sha256").update(readFileSync(file)).digest("hex");
	const { exit, answer } = await geoswap([
		...["init", "--base-url", "https://swaps.example", "--deployment", file],
		...["--deployment-sha256", `sha256:${hash}`, "--rpc", `${solanaChainId}=${solana.rpcUrl}`, "--no-keys"],
	]);
	expect(exit, JSON.stringify(answer)).toBe(0);
}

type Answer = {
	found?: { place: string; amount: string; held: string; lamports?: string; sentTxHash?: string }[];
	error?: { code: string; next: string; details?: { lamports: string; address?: string } };
};

function geoswap(
	args: string[],
	env: Record<string, string> = {},
): Promise<{ exit: number; answer: Answer }> {
	const { PATH, NODE_COMPILE_CACHE } = process.env;
	return new Promise((resolve) => {
		const options = { env: { PATH, NODE_COMPILE_CACHE, GEOSWAP_HOME: folder, ...env } };
		execFile(process.execPath, [main, ...args, "--json"], options, (error, stdout, stderr) => {
			const text = stdout.trim() || stderr.trim();
			resolve({ exit: Number(error?.code ?? 0), answer: JSON.parse(text.slice(text.indexOf("{"))) });
		});
	});
}

function rescue(wallet: KeyPairSigner, { env = {}, more = [] as string[] } = {}) {
	return geoswap(["rescue", "--chain", String(solanaChainId), "--wallet", wallet.address, ...more], env);
}

async function newWallet(): Promise<{ wallet: KeyPairSigner; key: string }> {
	const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
	const bytes = Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")]);
	return { wallet: await createKeyPairSignerFromBytes(bytes), key: getBase58Decoder().decode(bytes) };
}

function rpc() {
	return createSolanaRpc(solana.rpcUrl);
}

async function land(transaction: Transaction): Promise<void> {
	const signature = getSignatureFromTransaction(transaction);
	await rpc().sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: "base64" }).send();
	await expect
		.poll(async () => (await rpc().getSignatureStatuses([signature]).send()).value[0]?.confirmationStatus)
		.toBe("confirmed");
}

/** Opens an order of the wallet to an EVM chain, as the service and the wallet do together. */
async function open(wallet: KeyPairSigner, terms: Partial<Order> = {}): Promise<Order> {
	const now = BigInt(Math.floor(Date.now() / 1_000) + secondsAhead);
	const order: Order = {
		wallet: toSolanaWord(wallet.address),
		inputToken: toSolanaWord(solana.deployment.settlementToken),
		inputAmount: 10_000_000n,
		originChainId: BigInt(solanaChainId),
		destinationChainId: 31_337n,
		outputToken: toHex(6n, { size: 32 }),
		minOutput: 1n,
		recipient: toHex(7n, { size: 32 }),
		topUp: 0n,
		escrow: toSolanaWord(program.address),
		originVault: toSolanaWord(program.vault),
		destinationVault: toHex(8n, { size: 32 }),
		attesterSet: program.attesterSet.hash,
		swapKey: toHex(++swaps, { size: 32 }),
		deadlines: packDeadlines({
			openDeadline: now + 60n,
			fillDeadline: now + 600n,
			refundAfter: now + 7_200n,
		}),
		...terms,
	};
	const { value } = await rpc().getLatestBlockhash({ commitment: "confirmed" }).send();
	const compute = { unitLimit: 100_000, microLamportsPerUnit: 0n };
	const parts = { feePayer: feePayer.address, blockhash: value.blockhash, compute };
	const { unsigned } = await openTransaction(solana.deployment, order, parts);
	const built = getTransactionDecoder().decode(unsigned);
	await land(await partiallySignTransaction([feePayer.keyPair, wallet.keyPair], built));
	return order;
}

/** Sends instructions that the service's fee payer pays for. */
async function act(...instructions: Instruction[]): Promise<void> {
	const { value: lifetime } = await rpc().getLatestBlockhash({ commitment: "confirmed" }).send();
	await land(
		await signTransactionMessageWithSigners(
			pipe(
				createTransactionMessage({ version: 0 }),
				(empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
				(paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
				(living) => appendTransactionMessageInstructions(instructions, living),
			),
		),
	);
}

async function passTime(seconds: number): Promise<void> {
	secondsAhead += seconds;
	await solana.admin.passTime({ seconds });
	// Two slots later the new time is confirmed.
	await solana.admin.warp({ slots: 3 });
}

async function lamportsOf(address: SolanaAddress): Promise<bigint> {
	return (await rpc().getBalance(address, { commitment: "confirmed" }).send()).value;
}

async function tokensOf(owner: SolanaAddress, token: SolanaAddress): Promise<string> {
	const account = await tokenAccountOf({ owner, token });
	const { value } = await rpc().getTokenAccountBalance(account, { commitment: "confirmed" }).send();
	return value.amount;
}

test(
	"with the service down, an input is refunded after its deadline and any key can pay; without a payer the command names the lamports",
	async () => {
		const { wallet, key } = await newWallet();
		const token = solana.deployment.settlementToken;
		await solana.admin.mintTo({ owner: wallet.address, token, amount: 10_000_000n });
		const nothing = await rescue(wallet);
		expect(nothing).toMatchObject({ exit: 0, answer: { found: [] } });
		await open(wallet);

		const early = await rescue(wallet, { more: ["--send"], env: { GEOSWAP_SOLANA_KEY: key } });
		expect(early).toMatchObject({ exit: 3, answer: { found: [{ place: "escrow", amount: "10000000" }] } });
		await passTime(7_300);
		const listed = await rescue(wallet);
		expect(listed).toMatchObject({ exit: 0, answer: { found: [{ place: "escrow", lamports: "5000" }] } });
		const keyless = await rescue(wallet, { more: ["--send"] });
		expect(keyless).toMatchObject({
			exit: 6,
			answer: { error: { code: "RESCUE_UNPAID", next: "fund_wallet", details: { lamports: "895880" } } },
		});
		const poor = await rescue(wallet, { more: ["--send"], env: { GEOSWAP_SOLANA_KEY: key } });
		expect(poor).toMatchObject({
			exit: 6,
			answer: { error: { details: { lamports: "895880", address: wallet.address } } },
		});

		const account = await tokenAccountOf({ owner: wallet.address, token });
		await act(getCloseAccountInstruction({ account, destination: feePayer.address, owner: wallet }));
		// Lamports at its address make no account, so it is still created.
		await solana.admin.airdrop({ address: account, lamports: 890_880n });
		const payer = await newWallet();
		await solana.admin.airdrop({ address: payer.wallet.address, lamports: 10_000_000n });
		const sent = await rescue(wallet, {
			more: ["--send"],
			env: { GEOSWAP_SOLANA_PAYER_KEY: payer.key },
		});
		expect(sent).toMatchObject({ exit: 0, answer: { found: [{ sentTxHash: expect.any(String) }] } });
		expect(await tokensOf(wallet.address, token)).toBe("10000000");
		const cost = 5_000n + tokenAccountRentLamports;
		expect(await lamportsOf(payer.wallet.address)).toBe(10_000_000n - cost + 890_880n);
		expect(sent.answer.found?.[0]?.lamports).toBe(String(cost));
		const after = await rescue(wallet);
		expect(after).toMatchObject({ exit: 0, answer: { found: [{ place: "refunded" }] } });
	},
	timeout,
);

test(
	"an order that a third party made in the wallet's name blocks nothing, and an account that was given away is replaced by another of the wallet's",
	async () => {
		const { wallet } = await newWallet();
		const token = solana.deployment.settlementToken;
		const account = await solana.admin.mintTo({ owner: wallet.address, token, amount: 10_000_000n });
		const order = await open(wallet);
		await act(
			await prepareOrder(program.address, { ...order, swapKey: toHex(++swaps, { size: 32 }) }, feePayer),
		);
		const thief = await newWallet();
		await act(
			getSetAuthorityInstruction({
				owned: account,
				owner: wallet,
				authorityType: AuthorityType.AccountOwner,
				newAuthority: thief.wallet.address,
			}),
		);
		await passTime(7_300);
		const payer = await newWallet();
		await solana.admin.airdrop({ address: payer.wallet.address, lamports: 10_000_000n });
		const sending = { more: ["--send"], env: { GEOSWAP_SOLANA_PAYER_KEY: payer.key } };
		const refused = await rescue(wallet, sending);
		expect(refused).toMatchObject({ exit: 3, answer: { error: { code: "RESCUE_NOT_SENT" } } });

		const { wallet: other } = await newWallet();
		const place = { lamports: tokenAccountRentLamports, space: 165, programAddress: TOKEN_PROGRAM_ADDRESS };
		await act(
			getCreateAccountInstruction({ payer: feePayer, newAccount: other, ...place }),
			getInitializeAccount3Instruction({ account: other.address, mint: token, owner: wallet.address }),
		);
		const sent = await rescue(wallet, sending);
		expect(sent.exit).toBe(0);
		expect(sent.answer.found?.map(({ place, sentTxHash }) => [place, sentTxHash !== undefined])).toEqual(
			expect.arrayContaining([
				["escrow", true],
				["escrow", false],
			]),
		);
		const { value } = await rpc().getTokenAccountBalance(other.address, { commitment: "confirmed" }).send();
		expect(value.amount).toBe("10000000");
	},
	timeout,
);

test(
	"a refund of little SOL brings an empty wallet up to the rent minimum",
	async () => {
		const { wallet } = await newWallet();
		await solana.admin.airdrop({ address: wallet.address, lamports: 500_000n + 890_880n });
		await open(wallet, { inputToken: toSolanaWord(solanaNativeToken), inputAmount: 500_000n });
		const payer = await newWallet();
		await solana.admin.airdrop({ address: payer.wallet.address, lamports: 10_000_000n });
		await passTime(7_300);
		// The wallet spends its remaining SOL, so that the refund alone would leave it below the minimum.
		const rest = {
			from: wallet,
			to: feePayer.address,
			token: toSolanaWord(solanaNativeToken),
			amount: 890_880n,
		};
		await act(await transferInstruction(solana.deployment, rest));
		const sent = await rescue(wallet, {
			more: ["--send"],
			env: { GEOSWAP_SOLANA_PAYER_KEY: payer.key },
		});
		expect(sent).toMatchObject({ exit: 0, answer: { found: [{ lamports: String(5_000 + 390_880) }] } });
		expect(await lamportsOf(wallet.address)).toBe(890_880n);
	},
	timeout,
);
