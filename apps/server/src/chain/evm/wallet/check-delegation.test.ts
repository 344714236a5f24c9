import { authorizationSchema } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OriginScene, startOriginScene } from "../../../../test/api/origin-scene.ts";
import type { EvmChain } from "../chain-client.ts";
import { checkDelegation } from "./check-delegation.ts";
import { readAccountNonces } from "./read-account-nonces.ts";

let scene: OriginScene;
let chain: EvmChain;
beforeAll(async () => {
	scene = await startOriginScene();
	const connected = scene.chains.get(scene.origin.chainId);
	if (!connected) throw new Error("the scene has its origin");
	chain = connected;
});
afterAll(() => scene.stop());

test("a wallet that is delegated between reading its code and reading its nonce counts as delegated", async () => {
	const account = await scene.newWallet();
	const wallet = account.address;
	const signed = await scene.authorize(account);
	const { address, nonce, r, s, yParity } = signed;
	const authorization = authorizationSchema.parse({ chainId: chain.chainId, address, nonce, r, s, yParity });
	const checked = await checkDelegation({
		chain,
		wallet,
		delegation: { kind: "none" },
		target: address,
		authorization,
		readNonces: async () => {
			await scene.send(scene.relayer, { to: wallet, authorizationList: [signed] });
			return readAccountNonces(chain, wallet);
		},
	});
	expect(checked).toEqual({ delegate: chain.deployment.contracts.delegate });
});
