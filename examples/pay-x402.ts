import { getQuote, swap } from "@geoswap/sdk";
import { fileStore } from "@geoswap/sdk/file-store";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment } from "@x402/fetch";
import { type Address, createPublicClient, erc20Abi, type Hex, http, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { chains, client, pins, tokenOf, variable } from "./environment.ts";

// Buys something that costs USDC on the second chain (HTTP 402, x402 version 2), with USDC on the first one. If the wallet
// holds too little there, it swaps first, to itself, because a seller accepts only payments that the payer has signed.
//
//   node examples/pay-x402.ts http://127.0.0.1:4402/report report-17 .swaps
//
// The second argument names the purchase. If the program is started again with it, it does not swap a second time.
const [url = "", purchase = "purchase", directory = ".swaps"] = process.argv.slice(2);
const account = privateKeyToAccount(variable("GEOSWAP_EVM_KEY") as Hex);
const node = createPublicClient({ transport: http(variable("PAYMENT_RPC_URL")) });
const paid = { network: `eip155:${chains.two}` as const, asset: tokenOf(chains.two, "USDC") };
const dearest = parseUnits("5", 6);

const payer = x402Client.fromConfig({
	schemes: [{ network: paid.network, client: new ExactEvmScheme(account) }],
	spendControls: { allowedAssets: [{ ...paid, maxAmountPerPayment: String(dearest) }] },
});
payer.onBeforePaymentCreation(async ({ selectedRequirements }) => {
	const held = await node.readContract({
		address: paid.asset as Address,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [account.address],
	});
	const missing = BigInt(selectedRequirements.amount) - held;
	if (missing <= 0n) return;
	console.error(`${missing} of the smallest unit are missing on chain ${chains.two}`);
	const { status } = await topUp(missing);
	if (status !== "settled") return { abort: true, reason: `the swap is ${status}` };
});

async function topUp(missing: bigint) {
	const terms = {
		originChain: chains.one,
		destinationChain: chains.two,
		inputToken: tokenOf(chains.one, "USDC"),
		outputToken: paid.asset,
	};
	// A quote is for an exact input. Costs hardly depend on the amount, so the costs of one quote are added to the next amount.
	let amount = missing;
	for (let tries = 0; tries < 5; tries += 1) {
		const quote = await getQuote(client, { ...terms, amount, walletAddress: account.address });
		const short = missing - BigInt(quote.minOutput);
		if (short <= 0n) break;
		amount += short + parseUnits("0.01", 6);
	}
	if (amount > dearest) throw new Error(`a swap of ${amount} would be needed, and ${dearest} is the most`);
	return swap(client, {
		...terms,
		amount,
		minOutput: missing,
		signer: account,
		pins,
		id: purchase,
		store: fileStore(directory),
		onProgress: ({ step }) => console.error(step),
	});
}

const response = await wrapFetchWithPayment(fetch, payer)(url);
if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
const receipt = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
console.log(await response.text());
console.log("paid", receipt.transaction);
