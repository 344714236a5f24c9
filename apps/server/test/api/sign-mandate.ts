import { type Mandate, mandateTypedData } from "@geoswap/protocol";
import type { PrivateKeyAccount } from "viem";
import type { SubmitScene } from "./submit-scene.ts";

/** Signs a mandate for the scene's origin. By default it is for the signer's own wallet, a day, and 10 USDC an hour. */
export async function signMandate(
	scene: SubmitScene,
	signer: PrivateKeyAccount,
	terms: Pick<Mandate, "agent"> & Partial<Mandate>,
) {
	const { chainId, deployment } = scene.origin;
	const mandate: Mandate = {
		wallet: signer.address,
		epoch: 0n,
		expiry: BigInt(Math.floor(scene.nowMs() / 1_000) + 86_400),
		period: 3_600,
		originVault: deployment.contracts.vault,
		attesterSet: deployment.attesterSet.hash,
		inputs: [{ token: scene.assetOf("USDC"), maxAmount: 10_000_000n }],
		outputs: [],
		recipients: [],
		...terms,
	};
	const unsigned = { chainId, escrow: deployment.contracts.escrow, mandate };
	const signature = await signer.signTypedData(mandateTypedData(unsigned));
	return { ...unsigned, signature };
}
