import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fromSwapId, type SolanaAddress, solanaChainId, toSolanaWord, toWord } from "@geoswap/protocol";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { bytesToHex, type Hex, hexToBytes, isAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClientIntent, ClientReport, ClientTask } from "../caller/swap-client.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { solanaBalance } from "../solana/solana-balance.ts";
import { startFlakyProxy } from "../trouble/flaky-proxy.ts";
import { seededRandom } from "../trouble/seeded-random.ts";
import { fundWallets } from "../wallet/fund-wallets.ts";
import { assetAddress } from "../wallet/make-order.ts";

const isFull = process.env.GEOSWAP_FULL !== undefined;
const size = isFull
	? { intents: 1_000, perClient: 25, atOnce: 4 }
	: { intents: 50, perClient: 25, atOnce: 2 };
/** Every fifth swap is from Solana. */
const solanaShare = 5;
const amount = 10_000_000n;
/** Longer than an op lives here, which is 45 seconds. */
const copyDelayMs = 50_000;
const program = fileURLToPath(new URL("../caller/swap-client.ts", import.meta.url));

let environment: Environment;
let database: DatabaseConnection;
let folder: string;
beforeAll(async () => {
	environment = sharedEnvironment();
	database = await connectDatabase(environment.databaseUrl);
	folder = mkdtempSync(join(tmpdir(), "geoswap-clients-"));
});
afterAll(async () => {
	await database.end();
	rmSync(folder, { recursive: true, force: true });
});

test(`each of ${size.intents} intents ends as one swap or none, though clients are killed and a proxy disturbs every tenth call`, {
	timeout: isFull ? 3_600_000 : 900_000,
}, async () => {
	const { deployment: pins, baseUrl } = environment;
	const random = seededRandom(20_261_115);
	const proxy = await startFlakyProxy({ target: baseUrl, share: 0.1, random, copyDelayMs });
	const intents = await fundedIntents();
	const groups = Array.from({ length: Math.ceil(intents.length / size.perClient) }, (_, i) =>
		intents.slice(i * size.perClient, (i + 1) * size.perClient),
	);
	const reports = new Map<string, ClientReport>();
	let kills = 0;
	const waiting = [...groups.entries()];
	await Promise.all(
		Array.from({ length: size.atOnce }, async () => {
			for (let next = waiting.shift(); next; next = waiting.shift()) {
				const [index, group] = next;
				const file = join(folder, `task-${index}.json`);
				const apiKey = await environment.newKey();
				const storeDir = join(folder, "store");
				writeFileSync(
					file,
					JSON.stringify({ baseUrl: proxy.url, apiKey, pins, storeDir, intents: group } satisfies ClientTask),
				);
				kills += await runUntilKnown(file, group);
			}
		}),
	);
	// Doubled calls may arrive late. Only after all of them is it certain that nothing is done twice.
	await proxy.stop();

	const statuses = [...reports.values()].map(({ status }) => status);
	const counted = Object.entries(Object.groupBy(statuses, (status) => status));
	console.log({
		...proxy.counts,
		calls: proxy.calls(),
		kills,
		...Object.fromEntries(counted.map(([status, some = []]) => [status, some.length])),
	});
	expect(kills).toBeGreaterThanOrEqual(groups.length);
	for (const { id, key, keyKind } of intents) {
		const report = reports.get(id);
		const swaps = await swapsOf(keyKind === "evm" ? privateKeyToAddress(key) : await addressOf(key));
		const given = swaps.filter(({ status }) => status === "settled").length;
		expect(await heldBy({ key, keyKind }), `${id}: ${JSON.stringify(report)}`).toBe(
			2n * amount - BigInt(given) * amount,
		);
		if (report?.swapId)
			expect(swaps).toMatchObject([{ id: fromSwapId(report.swapId), status: report.status }]);
		else expect([report?.mayExecute, swaps]).toEqual([false, []]);
	}

	/** Kills and restarts the client until it has reported how each intent ended. Returns the number of kills. */
	async function runUntilKnown(file: string, group: readonly ClientIntent[]): Promise<number> {
		const isKnown = () => group.every(({ id }) => isFinal(reports.get(id)));
		for (let killed = 0; ; killed++) {
			const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] });
			const ended = once(child, "exit");
			createInterface({ input: child.stdout }).on("line", (line) => {
				const report = JSON.parse(line) as ClientReport;
				reports.set(report.id, report);
			});
			// The first kills come sooner, because most happens at the beginning.
			const lives = 1_500 + random.between(0, killed < 6 ? 4_000 : 30_000);
			const isOver = await Promise.race([ended.then(() => true), later(lives, child)]);
			if (!isOver) {
				child.kill("SIGKILL");
				await ended;
			} else if (isKnown()) return killed;
		}
	}

	/** Creates the intents. Each wallet could pay twice. */
	async function fundedIntents(): Promise<ClientIntent[]> {
		const { origin, destination, solana } = environment;
		const made = await Promise.all(
			Array.from({ length: size.intents }, async (_, i): Promise<ClientIntent> => {
				const isFromSolana = i % solanaShare === 0;
				const from = isFromSolana ? solana : origin;
				const recipient = privateKeyToAddress(generatePrivateKey());
				const common = {
					id: `intent-${i}`,
					originChain: isFromSolana ? solanaChainId : origin.chainId,
					destinationChain: destination.chainId,
					inputToken: assetAddress<string>(from, "USDC"),
					outputToken: assetAddress<string>(destination, "USDC"),
					recipient,
					amount: String(amount),
					minOutput: String((amount * 9n) / 10n),
				};
				if (!isFromSolana) return { ...common, key: generatePrivateKey(), keyKind: "evm" };
				const key = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
				const owner = await addressOf(key);
				await solana.admin.mintTo({ owner, token: assetAddress(solana, "USDC"), amount: 2n * amount });
				return { ...common, key, keyKind: "solana" };
			}),
		);
		const token = assetAddress(origin, "USDC");
		await fundWallets(
			origin,
			made
				.filter(({ keyKind }) => keyKind === "evm")
				.map(({ key }) => ({ wallet: privateKeyToAddress(key), token, amount: 2n * amount })),
		);
		return made;
	}
});

/** Returns true if the report can no longer change. */
function isFinal(report: ClientReport | undefined): boolean {
	return report !== undefined && (report.swapId !== undefined || report.mayExecute === false);
}

/** Resolves to false after this time. Never resolves if the process ends first. */
async function later(ms: number, child: ChildProcess): Promise<false> {
	await new Promise<void>((resolve) => {
		const timer = setTimeout(resolve, ms);
		child.once("exit", () => clearTimeout(timer));
	});
	return false;
}

async function addressOf(key: Hex): Promise<SolanaAddress> {
	return (await createKeyPairSignerFromPrivateKeyBytes(hexToBytes(key))).address;
}

function swapsOf(wallet: string): Promise<{ id: string; status: string }[]> {
	const word = isAddress(wallet) ? toWord(wallet) : toSolanaWord(wallet as SolanaAddress);
	return database.query("select id, status from swaps where order_terms->>'wallet' = $1", [
		word.toLowerCase(),
	]);
}

async function heldBy({ key, keyKind }: Pick<ClientIntent, "key" | "keyKind">): Promise<bigint> {
	const { origin, solana } = environment;
	return keyKind === "evm"
		? tokenBalance(origin, assetAddress(origin, "USDC"), privateKeyToAddress(key))
		: solanaBalance(solana, assetAddress(solana, "USDC"), await addressOf(key));
}
