import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { x402Facilitator } from "@x402/core/facilitator";
import { type FacilitatorClient, x402HTTPResourceServer, x402ResourceServer } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme as FacilitatorScheme } from "@x402/evm/exact/facilitator";
import { ExactEvmScheme as ServerScheme } from "@x402/evm/exact/server";
import { type Address, createWalletClient, http, type PrivateKeyAccount, publicActions } from "viem";

/** Sells one text by x402, and settles payments itself. The packages' own server and facilitator run in one process. */
export async function startSeller({
	chain: { chainId, rpcUrl },
	account,
	payTo,
	price,
	text,
}: {
	chain: { chainId: number; rpcUrl: string };
	/** Pays the gas of the payments. */
	account: PrivateKeyAccount;
	payTo: Address;
	price: { asset: Address; amount: string; extra: { name: string; version: string } };
	text: string;
}): Promise<{ url: string; close: () => void }> {
	const wallet = createWalletClient({ account, transport: http(rpcUrl) }).extend(publicActions);
	const signer = toFacilitatorEvmSigner({
		address: account.address,
		getCode: wallet.getCode,
		readContract: (call) => wallet.readContract({ ...call, args: call.args ?? [] }),
		verifyTypedData: (call) => wallet.verifyTypedData(call as never),
		writeContract: (call) => wallet.writeContract({ ...call, chain: null }),
		sendTransaction: (call) => wallet.sendTransaction({ ...call, chain: null }),
		waitForTransactionReceipt: wallet.waitForTransactionReceipt,
	});
	const network = `eip155:${chainId}` as const;
	const facilitator = new x402Facilitator().register(network, new FacilitatorScheme(signer));
	const ofProcess: FacilitatorClient = {
		verify: (payload, requirements) => facilitator.verify(payload, requirements),
		settle: (payload, requirements) => facilitator.settle(payload, requirements),
		getSupported: async () =>
			facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient["getSupported"]>>,
	};
	const resources = new x402ResourceServer(ofProcess).register(network, new ServerScheme());
	const seller = new x402HTTPResourceServer(resources, {
		"GET /report": { accepts: { scheme: "exact", network, payTo, price }, mimeType: "text/plain" },
	});
	await seller.initialize();

	const answer = async (request: IncomingMessage) => {
		const asked = contextOf(request);
		const result = await seller.processHTTPRequest(asked);
		if (result.type === "payment-error") return result.response;
		if (result.type !== "payment-verified") return { status: 404, headers: {}, body: "" };
		const { paymentPayload, paymentRequirements } = result;
		const settled = await seller.processSettlement(paymentPayload, paymentRequirements);
		return settled.success ? { status: 200, headers: settled.headers, body: text } : settled.response;
	};
	const server = createServer((request, response) => {
		answer(request).then(
			({ status, headers, body }) =>
				response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body ?? {})),
			(error: Error) => response.writeHead(500).end(error.message),
		);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
	return { url, close: () => void server.close() };
}

function contextOf({ headers, method = "GET", url: path = "/" }: IncomingMessage) {
	const header = (name: string) => headers[name.toLowerCase()]?.toString();
	return {
		path,
		method,
		adapter: {
			getHeader: header,
			getMethod: () => method,
			getPath: () => path,
			getUrl: () => `http://${headers.host}${path}`,
			getAcceptHeader: () => header("accept") ?? "",
			getUserAgent: () => header("user-agent") ?? "",
		},
	};
}
