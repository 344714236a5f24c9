import type { SwapReceipt } from "@geoswap/protocol";
import { verifyReceipt } from "@geoswap/sdk/receipt";
import { revokeShares, shareSwap } from "@geoswap/sdk/share";
import { parseUnits } from "viem";
import { expect, test } from "vitest";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { sharedEnvironment } from "../shared-environment.ts";

test("a person with the link follows a swap to its end without a key, checks its receipt on the chains, and can open nothing once it is revoked [D-beyond-12]", async () => {
	const environment = sharedEnvironment();
	const { origin, destination, deployment: pins, chains } = environment;
	const client = await environment.newClient();
	const amount = parseUnits("100", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const caller = { client, pins, account };
	const { swapId } = await submitSigned(caller, await signSwap(caller, intent));
	const { url } = await shareSwap(client, swapId);
	expect(url.startsWith(`${environment.baseUrl}/s/`)).toBe(true);

	const events = await (await fetch(`${url}/events`)).text();
	expect(events).toContain("event: end\n");
	expect(events).not.toContain(swapId);

	const page = await (await fetch(url, { headers: { accept: "text/html" } })).text();
	expect(page).toContain('<p class="status">Done</p>');
	expect(page).toContain(account.address);
	expect(page).not.toContain(client.apiKey);

	const receipt = (await (await fetch(`${url}/receipt`)).json()) as SwapReceipt;
	expect(receipt.swapId).toBe(swapId);
	const rpcUrls = Object.fromEntries(chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]));
	expect(await verifyReceipt(receipt, { pins, rpcUrls })).toMatchObject({ notShown: [] });

	expect(await revokeShares(client, swapId)).toEqual({ swapId, revoked: 1 });
	for (const part of ["", "/events", "/receipt"]) expect((await fetch(url + part)).status).toBe(404);
});
