// Logs in with a passkey, or registers one. The server says which, by the form's data.
const { startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;
const form = document.querySelector("form[data-passkey]");
const said = document.querySelector("[data-said]");
const button = form.querySelector("button");

async function ask(path, body) {
	const response = await fetch(path, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(body),
	});
	const answer = await response.json();
	if (!response.ok) throw new Error(answer.problem);
	return answer;
}

async function proceed() {
	button.disabled = true;
	said.textContent = "";
	const { passkey, invite } = form.dataset;
	try {
		const optionsJSON = await ask(`/${passkey}/options`, { invite });
		const start = passkey === "login" ? startAuthentication : startRegistration;
		await ask(`/${passkey}/verify`, { invite, response: await start({ optionsJSON }) });
		location.assign("/");
	} catch (error) {
		said.textContent = error.message;
		button.disabled = false;
	}
}

form.addEventListener("submit", (event) => {
	event.preventDefault();
	void proceed();
});
