import { createApiKey } from "@geoswap/devnet";
import { fromSwapId, geoEscrowAbi, geoVaultAbi, type SubmitResponse } from "@geoswap/protocol";
import { buildOp, createClient, getQuote, signDelegation, verifyAndSign, waitForSwap } from "@geoswap/sdk";
import {
	type Hex,
	parseSignature,
	parseUnits,
	serializeCompactSignature,
	signatureToCompactSignature,
} from "viem";
import { generatePrivateKey } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { swapIntent } from "../caller/do-swap.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const submits = 1_000;
const builds = 10;
/** A key may submit bursts of 200. */
const submitsPerKey = 200;

let environment: Environment;
let database: DatabaseConnection;

beforeAll(async () => {
	environment = sharedEnvironment();
	database = await connectDatabase(environment.databaseUrl);
});
afterAll(() => database.end());

test("a thousand concurrent submits of one quote, with ten op tokens and two forms of each signature, make one swap [I4-21, I8-5, I8-8, D-submit-8, D-submit-9]", async () => {
	const { origin, destination, deployment: pins, baseUrl, serverEnvironment } = environment;
	const accountName = `once-${generatePrivateKey().slice(2, 14)}`;
	const [keys, account] = await Promise.all([
		Promise.all(
			Array.from({ length: submits / submitsPerKey }, () => createApiKey(serverEnvironment, accountName)),
		),
		environment.newWallet({ chain: origin, token: "USDC", amount: parseUnits("200", 6) }),
	]);
	const client = createClient({ baseUrl, apiKey: keys[0] ?? "" });
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount: parseUnits("100", 6) },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const quote = await getQuote(client, intent);
	const authorization = await signDelegation(client, { chainId: origin.chainId, account, pins });
	const bodies = await Promise.all(
		Array.from({ length: builds }, async () => {
			const build = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken, authorization });
			const signature = await verifyAndSign({ intent, quote, build, pins, account });
			const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
			return [signature, compact].map((form) => ({ geoOpToken: build.geoOpToken, signature: form }));
		}),
	).then((ofEachBuild) => ofEachBuild.flat());
	expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(2 * builds);

	// The SDK is not used here, because it would retry refused submits.
	const answers = await Promise.all(
		Array.from({ length: submits }, async (_, i) => {
			const response = await fetch(`${baseUrl}/swap/submit`, {
				method: "POST",
				headers: { "content-type": "application/json", "x-api-key": keys[i % keys.length] ?? "" },
				body: JSON.stringify(bodies[i % bodies.length]),
			});
			const answer = (await response.json()) as SubmitResponse;
			return `${response.status} ${answer.swapId ?? JSON.stringify(answer)}`;
		}),
	);
	expect([...new Set(answers)]).toEqual([`200 ${quote.swapId}`]);

	const swap = await waitForSwap(client, quote.swapId);
	expect(swap.status).toBe("settled");
	const swaps = await database.query<{ id: string; submits: number; reservations: number }>(
		`select s.id,
			(select count(*)::int from swap_events where swap_id = s.id and fact = 'submitted') as submits,
			(select count(*)::int from reservations where account_id = s.account_id) as reservations
		from swaps s join accounts a on a.id = s.account_id where a.name = $1`,
		[accountName],
	);
	expect(swaps).toMatchObject([{ id: fromSwapId(quote.swapId), submits: 1 }]);
	expect(swaps[0]?.reservations).toBeLessThanOrEqual(1);
	// The reserved total of each inventory must equal the sum of its reservations, so that none was counted twice. One
	// statement reads both at the same moment.
	const miscounted = await database.query(
		`select chain_id, token, reserved from inventory s where reserved <> (
			select coalesce(sum(amount), 0) from reservations r where (r.chain_id, r.token) = (s.chain_id, s.token)
		)`,
	);
	expect(miscounted).toEqual([]);

	const { escrow } = origin.deployment.contracts;
	const { vault } = destination.deployment.contracts;
	const [opened, filled] = await Promise.all([
		origin.publicClient.getContractEvents({
			address: escrow,
			abi: geoEscrowAbi,
			eventName: "Opened",
			args: { wallet: account.address },
			fromBlock: 0n,
		}),
		destination.publicClient.getContractEvents({
			address: vault,
			abi: geoVaultAbi,
			eventName: "Filled",
			args: { orderId: swap.orderId as Hex },
			fromBlock: 0n,
		}),
	]);
	expect(opened.map((event) => event.args.orderId)).toEqual([swap.orderId]);
	expect(filled).toHaveLength(1);
});
