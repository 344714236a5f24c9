import { short } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";

/** Shows a transaction's hash, with a link if the chain has an explorer. */
export function transactionLink(chainNames: ChainNames, chainId: number, hash: string): Content {
	return linked(chainNames.transactionUrl(chainId, hash), hash);
}

export function addressLink(chainNames: ChainNames, chainId: number, address: string): Content {
	return linked(chainNames.addressUrl(chainId, address), address);
}

function linked(url: string | undefined, text: string): Content {
	return url
		? html`<a class="mono" href=${url} title=${text} rel="noreferrer">${short(text, 10)}</a>`
		: html`<span class="mono" title=${text}>${short(text, 10)}</span>`;
}
