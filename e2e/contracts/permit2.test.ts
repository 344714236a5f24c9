import { startTestChains, type TestChains } from "@geoswap/devnet";
import { encodeFunctionData, erc20Abi, type Hex, maxUint256, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { revertOf } from "../chain/revert-of.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";
import { delegatedWallet, fundEther } from "../wallet/test-wallet.ts";

const permitTypes = {
	PermitTransferFrom: [
		{ name: "permitted", type: "TokenPermissions" },
		{ name: "spender", type: "address" },
		{ name: "nonce", type: "uint256" },
		{ name: "deadline", type: "uint256" },
	],
	TokenPermissions: [
		{ name: "token", type: "address" },
		{ name: "amount", type: "uint256" },
	],
} as const;

const permit2Abi = parseAbi([
	"error InvalidContractSignature()",
	"struct TokenPermissions { address token; uint256 amount; }",
	"struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
	"struct SignatureTransferDetails { address to; uint256 requestedAmount; }",
	"function permitTransferFrom(PermitTransferFrom permit, SignatureTransferDetails transferDetails, address owner, bytes signature)",
]);

let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains({ automine: true });
});
afterAll(() => chains.stop());

test("the signatures of a delegated wallet still verify in a Permit2 transfer through ERC-1271", async () => {
	const { origin } = chains;
	const relayer = privateKeyToAccount(chains.keys.relayers[0] ?? "0x");
	const usdc = assetAddress(origin, "USDC");
	const permit2 = origin.deployment.contracts.permit2;
	if (permit2 === undefined) throw new Error("the devnet deploys Permit2");
	const wallet = await delegatedWallet(chains.origin, relayer);
	await fundEther(origin, wallet.address);
	await sendTransaction({
		chain: origin,
		account: wallet,
		to: usdc,
		data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [permit2, maxUint256] }),
	});
	const permit = { permitted: { token: usdc, amount: 1_000_000n }, nonce: 7n, deadline: maxUint256 };
	const typedData = {
		domain: { name: "Permit2", chainId: origin.chainId, verifyingContract: permit2 },
		types: permitTypes,
		primaryType: "PermitTransferFrom",
		message: { ...permit, spender: relayer.address },
	} as const;
	const recipient = privateKeyToAccount(generatePrivateKey()).address;
	const transfer = (signed: Hex) =>
		encodeFunctionData({
			abi: permit2Abi,
			functionName: "permitTransferFrom",
			args: [permit, { to: recipient, requestedAmount: 1_000_000n }, wallet.address, signed],
		});

	const forged = await relayer.signTypedData(typedData);
	const forging = origin.publicClient.call({ account: relayer, to: permit2, data: transfer(forged) });
	expect((await revertOf(permit2Abi, forging)).errorName).toBe("InvalidContractSignature");

	const signature = await wallet.signTypedData(typedData);
	const receipt = await sendTransaction({
		chain: origin,
		account: relayer,
		to: permit2,
		data: transfer(signature),
	});
	expect(receipt.status).toBe("success");
	expect(await tokenBalance(origin, usdc, recipient)).toBe(1_000_000n);
});
