// The theme tells the console what it does; nobody has asked.
const say = console.log;
console.log = (...words) => String(words[0]).startsWith("[PST]") || say(...words);
