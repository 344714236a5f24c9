import type { SolanaFaults } from "@geoswap/devnet";
import { programAccountSizes } from "@geoswap/protocol";
import { type Base64EncodedWireTransaction, getBase58Decoder, getBase64Decoder } from "@solana/kit";
import { expect, onTestFinished, test } from "vitest";
import { countStatuses, planSolanaSwap } from "../caller/mixed-swaps.ts";
import { swapWhileTroubled } from "../caller/swap-while-troubled.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { ownEnvironment } from "../own-environment.ts";
import { seededRandom } from "../trouble/seeded-random.ts";

const swapCount = Number(process.env.GEOSWAP_STORM_SWAPS ?? 500);
/** Time until the last deadline of a swap that no process worked on has passed, and its outcome is final. */
const decidedWithinMs = 420_000;
/** Time to close the accounts of all orders, 16 at a time. */
const sweptWithinMs = 600_000;
/** More than any order takes until its record may be closed. */
const daysPassed = 4;
/** A block is final once it is older than this many slots. */
const deepestFork = 31;
const random = seededRandom(Number(process.env.GEOSWAP_SEED));

const decodeSignature = (hash: Uint8Array): string => getBase58Decoder().decode(hash);

const environmentOf = ownEnvironment({
	// Without depths a deposit counts once it is final.
	configure: ({ solana, ...config }) => ({ ...config, solana: { ...solana, depths: [] } }),
});

test("with kills, forks and nodes that drop and repeat requests, each swap is paid once, and all rent comes back to the lamport", async () => {
	const environment = environmentOf();
	const { solana, stack } = environment;
	const { worker } = stack.processes;
	const counts: Record<string, number> = {};
	const database = await connectDatabase(environment.databaseUrl);
	onTestFinished(() => database.end());
	const count = (name: string) => {
		counts[name] = (counts[name] ?? 0) + 1;
	};
	const faulty = (name: string, faults: SolanaFaults) => {
		count(name);
		return solana.admin.setFaults(faults);
	};
	/** Returns the transactions of the last minutes that are not final. */
	const unfinal = () =>
		database.query<{ hash: Uint8Array; raw: Uint8Array }>(
			"select hash, raw from lane_transactions where chain_id = $1 and state <> 'final' and raw <> ''",
			[solana.chainId],
		);
	const troubles = [
		async () => {
			count("kills");
			await solana.admin.setFaults({});
			worker.kill("SIGKILL");
			await worker.exited();
			await worker.start();
		},
		async () => {
			count("forks");
			const depth = random.between(1, deepestFork);
			// In every other fork the transactions wait for a block again. Otherwise they are lost.
			const keep = random.chance(0.5) ? (await unfinal()).map(({ hash }) => decodeSignature(hash)) : [];
			await solana.admin.fork({ depth, keep });
		},
		() => faulty("dropped sends", { dropSends: { next: 10 } }),
		() => faulty("lost answers", { dropAnswers: { next: 30 } }),
		() => faulty("late sends", { delaySendMs: { ms: 2_000, next: 10 } }),
		async () => {
			count("repetitions");
			for (const { raw } of await unfinal()) {
				const wire = getBase64Decoder().decode(raw) as Base64EncodedWireTransaction;
				await solana.rpc.sendTransaction(wire, { encoding: "base64", skipPreflight: true }).send();
			}
		},
	];
	const swaps = await swapWhileTroubled(environment, {
		swapCount,
		plan: planSolanaSwap,
		trouble: (round) => troubles[round % troubles.length]?.(),
	});
	await solana.admin.setFaults({});
	console.log(`${swaps.length} swaps in a storm on Solana:`, countStatuses(swaps), counts);
	expect(swaps).toHaveLength(swapCount);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, swaps);

	const locked = async () => {
		const [row] = await database.query<{ sum: string | null }>(
			"select sum(amount)::text as sum from entries where account = 'locked'",
		);
		return BigInt(row?.sum ?? 0);
	};
	expect(await locked()).toBeGreaterThan(0n);
	// The database's clock cannot be moved, so its deadlines are moved instead, together with the chain's clock.
	await solana.admin.passTime({ seconds: daysPassed * 86_400 });
	await database.query(
		"update rents set closable_at = now() - interval '2 minutes' where returned_at is null",
	);
	await expect.poll(locked, { timeout: sweptWithinMs, interval: 1_000 }).toBe(0n);
	for (const size of [programAccountSizes.order, programAccountSizes.record]) {
		const left = await solana.rpc
			.getProgramAccounts(solana.deployment.program.address, {
				encoding: "base64",
				filters: [{ dataSize: BigInt(size) }],
			})
			.send();
		expect(left).toEqual([]);
	}
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
});
