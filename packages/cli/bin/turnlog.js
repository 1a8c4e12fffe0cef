#!/usr/bin/env node
// There before anything is built, so that installing the workspace can link the command.
import '../dist/main.js';
