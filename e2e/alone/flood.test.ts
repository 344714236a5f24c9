import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { runLoad } from "../bench/run-load.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { timeQuotes } from "../caller/time-quotes.ts";
import { processorMs } from "../measure/process-figures.ts";
import { ownEnvironment } from "../own-environment.ts";

const floodPerSecond = 2_000;
const measureMs = 8_000;
/** Below a key's rate, so that none is refused because of its key. */
const quotesPerSecond = 15;
/** Few addresses, so that each soon has no request left. */
const addresses = Array.from({ length: 3 }, (_, i) => `127.0.7.${i + 1}`);

const environmentOf = ownEnvironment();

test("a flood without keys is refused, and slows the quotes of callers with keys only a little", async () => {
	const environment = environmentOf();
	const { origin, destination, baseUrl } = environment;
	const client = await environment.newClient();
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount: parseUnits("100", 6) },
		to: { chain: destination, token: "USDC" },
		account: privateKeyToAccount(generatePrivateKey()),
	});
	const quotes = () => timeQuotes(client, intent, { perSecond: quotesPerSecond, durationMs: measureMs });
	const sendFlood = () =>
		runLoad({
			kind: "flood",
			url: `${baseUrl}/swap/quote`,
			addresses,
			perSecond: floodPerSecond,
			durationMs: measureMs + 1_000,
		});
	// Afterwards the bursts of the addresses are used up, and everything is warm.
	await Promise.all([quotes(), sendFlood()]);
	const calm = await quotes();
	const pid = environment.stack.processes.api.pid ?? 0;
	const usedMs = processorMs(pid);
	const [flooded, flood] = await Promise.all([quotes(), sendFlood()]);
	const processors = (processorMs(pid) - usedMs) / (measureMs + 1_000);
	console.log("quotes without and with a flood, in milliseconds:", { calm, flooded, flood, processors });

	expect(flood.statuses["429"]).toBeGreaterThan(flood.statuses["401"] ?? 0);
	expect(flood.statuses.error).toBeUndefined();
	expect(flooded.p50).toBeLessThan(calm.p50 + 50);
	expect(flooded.p99).toBeLessThan(calm.p99 + 250);
});
