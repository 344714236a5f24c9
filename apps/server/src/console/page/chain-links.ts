import { short } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainBook } from "../../config/chain-book.ts";

/** Shows a transaction's hash, with a link if the chain has an explorer. */
export function transactionLink(book: ChainBook, chainId: number, hash: string): Content {
	return linked(book.transactionUrl(chainId, hash), hash);
}

export function addressLink(book: ChainBook, chainId: number, address: string): Content {
	return linked(book.addressUrl(chainId, address), address);
}

function linked(url: string | undefined, text: string): Content {
	return url
		? html`<a class="mono" href=${url} title=${text} rel="noreferrer">${short(text, 10)}</a>`
		: html`<span class="mono" title=${text}>${short(text, 10)}</span>`;
}
