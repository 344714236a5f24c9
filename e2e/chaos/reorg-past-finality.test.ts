import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serverCommand } from "@geoswap/devnet";
import { orderSchema, unpackDeadlines } from "@geoswap/protocol";
import { getStatus } from "@geoswap/sdk";
import { parseUnits } from "viem";
import { expect, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { deepFinality } from "../deep-finality.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { expectRefusal } from "../expect/expect-refusal.ts";
import { ownEnvironment } from "../own-environment.ts";
import { readOrderEvents, reorganize } from "../trouble/reorganize.ts";
import { assetAddress } from "../wallet/make-order.ts";

/** With this block time a block is final after 26 seconds. */
const blockMs = 400;
const patience = { timeout: 120_000, interval: 300 };
const amount = parseUnits("50", 6);

const environmentOf = ownEnvironment(deepFinality({ blockMs }));

test("a chain that drops final blocks is paused and the loss is reported; once the pause is lifted, the chain is followed again and the loss is booked", async () => {
	const environment = environmentOf();
	const {
		origin,
		destination,
		client,
		deployment: pins,
		serverEnvironment,
		logDir,
		metricsUrls,
	} = environment;
	const database = await connectDatabase(environment.databaseUrl);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const [from, to] = [
		{ chain: origin, token: "USDC", amount },
		{ chain: destination, token: "USDC" },
	];
	const { signed, swap } = await doSwap({ client, pins, account }, swapIntent({ from, to, account }));
	expect(swap.status).toBe("settled");
	const { orderId, order } = signed.build.geoOp;
	const ended = () => database.query("select from swaps where ended_at is null");
	await expect.poll(ended, patience).toEqual([]);
	await expectBooksAgree(expect, environment);

	// Everything since the deposit is dropped, and by the clock of the new fork it is too late to make the deposit again.
	const { openDeadline } = unpackDeadlines(orderSchema.parse(order).deadlines);
	const opened = (await readOrderEvents(origin, 0)).find((event) => event.orderId === orderId);
	const lost = await reorganize(origin, { firstDropped: () => opened?.blockNumber ?? 0 });
	expect(lost.map(({ name }) => name)).toEqual(["Opened", "Released"]);
	await origin.testClient.request<{ Method: "anvil_setTime"; Parameters: [number]; ReturnType: unknown }>({
		method: "anvil_setTime",
		params: [Number(openDeadline) + 1],
	});
	const pauses = () =>
		database.query("select chain_id, cause from pauses where lifted_at is null and cause = 'finality'");
	await expect.poll(pauses, patience).toEqual([{ chain_id: String(origin.chainId), cause: "finality" }]);

	const quote = () => callApi(client, "/swap/quote", { body: swapIntent({ from, to, account }) });
	await expect.poll(async () => (await quote()).status, patience).toBe(422);
	expectRefusal(expect, await quote(), "NO_ROUTE", {
		reason: "paused",
		side: expect.stringMatching(/^(origin|destination)$/),
	});
	const metric = `geoswap_chain_paused{chain="${origin.chainId}",cause="finality"} 1`;
	const metrics = async () => (await fetch(metricsUrls.api)).text();
	await expect.poll(metrics, patience).toContain(metric);
	const reconciled = () =>
		serverCommand(serverEnvironment, ["reconcile"]).catch((error: unknown) => String(error));
	await expect.poll(reconciled, { ...patience, interval: 2_000 }).toContain("LOSS delivered without deposit");
	console.log(await reconciled());
	const said = readFileSync(join(logDir, "worker.log"), "utf8").split(
		"the chain dropped a final block and is paused",
	);
	expect(said).toHaveLength(2);

	const why = ["--cause", "finality", "--by", "a person", "--reason", "looked"];
	const lift = ["pauses", "lift", String(origin.chainId), ...why];
	await serverCommand(serverEnvironment, lift);
	const losses = () =>
		database.query(
			`select account, amount::text from entries join postings on id = posting_id
			where order_id = $1 and name = 'loss' and account = 'loss'`,
			[Buffer.from(orderId.slice(2), "hex")],
		);
	await expect.poll(losses, patience).toEqual([{ account: "loss", amount: String(swap.funds.amount) }]);
	await expect.poll(ended, patience).toEqual([]);
	expect(await getStatus(client, swap.swapId)).toMatchObject({ status: "settled" });
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), account.address)).toBe(amount);
	await expect.poll(async () => (await quote()).status, patience).toBe(200);
	await expectBooksAgree(expect, environment);
	expect(await escrowState(origin, orderId)).toBe("None");
	await database.end();
});
